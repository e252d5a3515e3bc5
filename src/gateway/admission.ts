import { OrchestratorError } from '../domain/errors.ts';
import type { Clock } from '../domain/ids.ts';
import type { Protocol, TokenLimit } from '../policy/policy.ts';
import type { Store, Write } from '../store/store.ts';
import type { DayWindow } from './day-window.ts';
import type { AgentGrant, BudgetScope, Refusal } from './gateway.ts';
import type { Journal } from './journal.ts';
import { type Decision, type Demand, decideAdmission, type ScopeBalance } from './ledger.ts';
import { eventOrigin, type OpenCall } from './open-call.ts';

export interface AdmissionRequest {
  readonly id: string;
  readonly grant: AgentGrant;
  readonly protocol: Protocol;
  readonly demand: Demand;
}

export type AdmissionOutcome =
  | { readonly kind: 'admitted'; readonly call: OpenCall }
  | { readonly kind: 'refused'; readonly refusal: Refusal }
  | { readonly kind: 'aborted' };

/**
 * Lets calls in. A call that is admitted holds its reservation in every scope, durably: the conditional updates and the
 * call's row are one batch, so that no interleaving passes a cap. Calls of one role are decided one after the other, in
 * the order in which they came. Rejects when the ledger can't be written: then nothing may be sent.
 */
export interface Admissions {
  admit(request: AdmissionRequest, signal: AbortSignal): Promise<AdmissionOutcome>;
  /** A reservation was settled or a cap raised: waiting calls look again. */
  changed(): void;
}

export function createAdmissions(parts: { store: Store; journal: Journal; clock: Clock; days: DayWindow }): Admissions {
  const tails = new Map<string, Promise<unknown>>();
  let change = Promise.withResolvers<void>();

  async function decideAndHold(request: AdmissionRequest, signal: AbortSignal): Promise<AdmissionOutcome> {
    const gone = aborted(signal);
    while (!signal.aborted) {
      const seen = change.promise;
      const { day, write } = parts.days.today();
      const scopes = request.grant.scopes(day);
      const decision = decideAdmission(
        request.demand,
        scopes.map((scope) => balanceOf(parts.store, scope)),
      );
      switch (decision.kind) {
        case 'refuse':
          await recordRefusal(parts, request, decision.refusal);
          return { kind: 'refused', refusal: decision.refusal };
        case 'wait':
          await Promise.race([seen, gone]);
          continue;
        case 'admit': {
          const call = openCall(request, decision, scopes);
          const rows = [write, ...admissionWrites({ call, scopes, day, at: parts.clock.now() })];
          const events = [{ ...reservedEvent(call, request.demand), at: parts.clock.now() }];
          const outcome = await parts.journal.commit(rows, events);
          // Not committed: another role's call took the room since the balances were read.
          if (outcome.committed) return { kind: 'admitted', call };
        }
      }
    }
    return { kind: 'aborted' };
  }

  return {
    admit(request, signal) {
      const before = tails.get(request.grant.role) ?? Promise.resolve();
      const result = before.then(() => decideAndHold(request, signal));
      tails.set(
        request.grant.role,
        result.catch(() => undefined),
      );
      return result;
    },
    changed() {
      change.resolve();
      change = Promise.withResolvers();
    },
  };
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
      params: { scope: scope.id, cap_milli: capMilli(scope.limit) ?? null },
    })),
    ...scopes.map((scope) => ({
      statement: 'budget-reserve',
      params: { scope: scope.id, amount_milli: call.reservedMilli },
      expectChanges: 1,
    })),
    { statement: 'call-insert', params: callRow(call, options) },
  ];
}

function callRow(call: OpenCall, options: { day: string; at: number }): Write['params'] {
  const { grant } = call;
  return {
    id: call.id,
    run: grant.run,
    task: grant.task,
    role: grant.role,
    agent: grant.agent,
    attempt: grant.attempt,
    model: grant.model,
    protocol: call.protocol,
    key_tail: grant.key.slice(-4),
    day: options.day,
    reserved_input: call.reserved.input,
    reserved_output: call.reserved.output,
    reserved_milli: call.reservedMilli,
    scopes: JSON.stringify(call.scopes),
    created_at: options.at,
  };
}

function openCall(
  request: AdmissionRequest,
  decision: Extract<Decision, { kind: 'admit' }>,
  scopes: readonly BudgetScope[],
): OpenCall {
  return {
    id: request.id,
    grant: request.grant,
    protocol: request.protocol,
    reserved: { input: request.demand.input, output: decision.outputCap * request.demand.choices },
    reservedMilli: decision.reservedMilli,
    scopes: scopes.map((scope) => scope.id),
    outputCap: decision.outputCap,
  };
}

function reservedEvent(call: OpenCall, demand: Demand) {
  const data = {
    call: call.id,
    model: call.grant.model,
    input: call.reserved.input,
    output: call.reserved.output,
    ...(call.outputCap < demand.outputCap ? { clampedFrom: demand.outputCap } : {}),
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
  const cap = row === undefined ? capMilli(scope.limit) : (row['cap_milli'] ?? undefined);
  return {
    scope: scope.id,
    label: scope.label,
    capMilli: cap === undefined ? undefined : Number(cap),
    spentMilli: Number(row?.['spent_milli'] ?? 0),
    heldMilli: Number(row?.['held_milli'] ?? 0),
  };
}

function capMilli(limit: TokenLimit): number | undefined {
  if (limit === 'unlimited') return undefined;
  if (Number.isFinite(limit) && limit >= 0) return Math.floor(limit * 1000);
  throw new OrchestratorError('configuration', `A token limit is ${limit}; give a number from 0 up, or "unlimited".`);
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
}
