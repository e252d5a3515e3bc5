import { OrchestratorError } from '../domain/errors.ts';
import type { Clock } from '../domain/ids.ts';
import { keyTail } from '../policy/env-file.ts';
import type { Protocol } from '../policy/policy.ts';
import type { Store, Write } from '../store/store.ts';
import type { DayWindow } from './day-window.ts';
import type { BudgetScope, Payer, Refusal } from './gateway.ts';
import type { Journal } from './journal.ts';
import { type Decision, type Demand, decideAdmission, type ScopeBalance } from './ledger.ts';
import { eventOrigin, type Hold, type OpenCall } from './open-call.ts';
import { rowAmount } from './row-amount.ts';
import { createUnderWay } from './under-way.ts';

export interface AdmissionRequest {
  readonly id: string;
  readonly grant: Payer;
  readonly protocol: Protocol;
  readonly demand: Demand;
}

export type AdmissionOutcome =
  | { readonly kind: 'admitted'; readonly call: OpenCall }
  | { readonly kind: 'refused'; readonly refusal: Refusal }
  | { readonly kind: 'aborted' };

/**
 * Lets calls in. A call that is admitted holds its reservation in every scope, durably: the conditional updates and the
 * call's row are one batch, so that no interleaving passes a cap. Calls of one role are decided in the order in which
 * they came; where there is room for all, they are written together, else one after the other, each by exact balances.
 * Rejects when the ledger can't be written: then nothing may be sent.
 */
export interface Admissions {
  admit(request: AdmissionRequest, signal: AbortSignal): Promise<AdmissionOutcome>;
  /** A reservation was settled or a cap has changed: waiting calls look again. */
  changed(): void;
}

/** In an object, so that awaiting the decision does not wait for the outcome. */
interface Decided {
  readonly outcome: Promise<AdmissionOutcome>;
}

export function createAdmissions(parts: { store: Store; journal: Journal; clock: Clock; days: DayWindow }): Admissions {
  const tails = new Map<string, Promise<unknown>>();
  const underWay = createUnderWay();
  let change = Promise.withResolvers<void>();

  function post(call: OpenCall, of: { scopes: readonly BudgetScope[]; day: string; advance: Write }): Promise<boolean> {
    const at = parts.clock.now();
    const rows = [of.advance, ...admissionWrites({ call, scopes: of.scopes, day: of.day, at })];
    return underWay.hold(call.holds, parts.journal.commit(rows, [{ ...reservedEvent(call), at }]));
  }

  async function decide(request: AdmissionRequest, signal: AbortSignal): Promise<Decided> {
    const gone = aborted(signal);
    while (!signal.aborted) {
      const seen = change.promise;
      const { day, write } = parts.days.today();
      const scopes = request.grant.scopes(day);
      const balances = scopes.map((scope) => underWay.counted(balanceOf(parts.store, scope)));
      const decision = decideAdmission(request.demand, balances);
      const isWhole = decision.kind === 'admit' && decision.outputCap === request.demand.outputCap;
      if (!isWhole && underWay.any()) {
        await Promise.race([underWay.none(), gone]);
        continue;
      }
      switch (decision.kind) {
        case 'refuse':
          await recordRefusal(parts, request, decision.refusal);
          return settled({ kind: 'refused', refusal: decision.refusal });
        case 'wait':
          await Promise.race([seen, gone]);
          continue;
        case 'admit': {
          const call = openCall(request, decision, scopes);
          const held = post(call, { scopes, day, advance: write });
          if (isWhole) return { outcome: held.then((done) => (done ? admitted(call) : admit(request, signal))) };
          // Not done: another role's call took the room since the balances were read.
          if (await held) return settled(admitted(call));
        }
      }
    }
    return settled({ kind: 'aborted' });
  }

  function admit(request: AdmissionRequest, signal: AbortSignal): Promise<AdmissionOutcome> {
    const before = tails.get(request.grant.role) ?? Promise.resolve();
    const decided = before.then(() => decide(request, signal));
    tails.set(
      request.grant.role,
      decided.catch(() => undefined),
    );
    return decided.then(({ outcome }) => outcome);
  }

  return {
    admit,
    changed() {
      change.resolve();
      change = Promise.withResolvers();
    },
  };
}

function admitted(call: OpenCall): AdmissionOutcome {
  return { kind: 'admitted', call };
}

function settled(outcome: AdmissionOutcome): Decided {
  return { outcome: Promise.resolve(outcome) };
}

/** The batch that admits a call. Every scope's update is a guard. */
export function admissionWrites(options: {
  call: OpenCall;
  scopes: readonly BudgetScope[];
  day: string;
  at: number;
}): Write[] {
  const { call, scopes } = options;
  return [
    ...scopes.map((scope) => ({
      statement: 'budget-ensure',
      params: { scope: scope.id, cap_milli: capOf(scope) ?? null },
    })),
    ...call.holds.map((hold) => ({
      statement: 'budget-reserve',
      params: { scope: hold.scope, amount_milli: hold.amount },
      expectChanges: 1,
    })),
    { statement: 'call-insert', params: callRow(call, options) },
  ];
}

function callRow(call: OpenCall, options: { day: string; at: number }): Write['params'] {
  const { grant } = call;
  return {
    id: call.id,
    run: grant.run ?? null,
    task: grant.task ?? null,
    role: grant.role,
    agent: grant.agent ?? null,
    attempt: grant.attempt ?? null,
    model: grant.model,
    protocol: call.protocol,
    key_tail: keyTail(grant.key),
    day: options.day,
    reserved_input: call.reserved.input,
    reserved_output: call.reserved.output,
    reserved_milli: call.reservedMilli,
    scopes: JSON.stringify(call.holds),
    created_at: options.at,
  };
}

function openCall(
  request: AdmissionRequest,
  decision: Extract<Decision, { kind: 'admit' }>,
  scopes: readonly BudgetScope[],
): OpenCall {
  const { demand } = request;
  const { outputCap } = decision;
  return {
    id: request.id,
    grant: request.grant,
    protocol: request.protocol,
    reserved: { input: demand.input, output: outputCap * demand.choices },
    reservedMilli: decision.reservedMilli,
    holds: scopes.map((scope) => holdOf(scope, decision)),
    outputCap,
    ...(outputCap < demand.outputCap ? { clampedFrom: demand.outputCap } : {}),
  };
}

function holdOf(scope: BudgetScope, decision: Extract<Decision, { kind: 'admit' }>): Hold {
  const unit = scope.unit ?? 'tokens';
  switch (unit) {
    case 'tokens':
      return { scope: scope.id, unit, amount: decision.reservedMilli };
    case 'usd':
      // Without a price there is no limit here, or the call would not have been admitted.
      return { scope: scope.id, unit, amount: decision.reservedMicros ?? 0 };
  }
}

function reservedEvent(call: OpenCall) {
  const data = {
    call: call.id,
    model: call.grant.model,
    input: call.reserved.input,
    output: call.reserved.output,
    ...(call.clampedFrom === undefined ? {} : { clampedFrom: call.clampedFrom }),
  };
  return { type: 'call-reserved', ...eventOrigin(call.grant), data };
}

async function recordRefusal(
  parts: { journal: Journal; clock: Clock },
  request: AdmissionRequest,
  refusal: Refusal,
): Promise<void> {
  const data = { call: request.id, ...refusal };
  await parts.journal.commit(
    [],
    [{ at: parts.clock.now(), type: 'budget-refused', ...eventOrigin(request.grant), data }],
  );
}

function balanceOf(store: Store, scope: BudgetScope): ScopeBalance {
  const row = store.read('budget-get', { scope: scope.id })[0];
  const cap = capOf(scope);
  return {
    scope: scope.id,
    unit: scope.unit ?? 'tokens',
    label: scope.label,
    cap: cap === undefined ? undefined : Math.max(cap, Number(row?.['raised_milli'] ?? 0)),
    spent: Number(row?.['spent_milli'] ?? 0),
    held: Number(row?.['held_milli'] ?? 0),
  };
}

/** The policy's cap as the row counts it; undefined for unlimited. */
function capOf({ limit, unit }: BudgetScope): number | undefined {
  if (limit === 'unlimited') return undefined;
  if (Number.isFinite(limit) && limit >= 0) return rowAmount(limit, unit ?? 'tokens');
  throw new OrchestratorError(
    'configuration',
    `A budget's limit is ${limit}; give a number from 0 up, or "unlimited".`,
  );
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
}
