import type { Dispatcher } from 'undici';
import { messageOf } from '../../domain/errors.ts';
import type { RandomText } from '../../domain/ids.ts';
import type { AdmissionOutcome } from '../admission.ts';
import { estimateInput } from '../estimate.ts';
import type { Payer, Refusal } from '../gateway.ts';
import type { OpenCall } from '../open-call.ts';
import { markSent } from '../send-call.ts';
import type { ServeParts } from '../serve-parts.ts';
import type { AttemptRecord } from '../settlement.ts';
import { nothingSpent, type Spend, spendOfAnswer, spendOfSilence } from '../spend.ts';
import { askEndpoint, type Findings, type Question } from './ask-endpoint.ts';
import { billOf } from './classify.ts';
import { type Exchange, OUTPUT_CAP, PROMPT } from './minimal-request.ts';

export type PreflightOutcome =
  | { readonly kind: 'asked'; readonly findings: Findings }
  /** Its budget does not allow it. */
  | { readonly kind: 'refused'; readonly refusal: Refusal }
  /** Other calls of the role held its budget or its key for too long. */
  | { readonly kind: 'busy' }
  /** Without a ledger nothing is sent. */
  | { readonly kind: 'no-ledger'; readonly reason: string };

/** Minimal requests of `doctor`, reserved and settled like every other call, as rows of their role. */
export interface Preflight {
  ask(payer: Payer, question: Question, signal: AbortSignal): Promise<PreflightOutcome>;
}

export type PreflightParts = Pick<ServeParts, 'admissions' | 'settlements' | 'journal' | 'clock' | 'limit'> & {
  readonly dispatcher: Dispatcher;
  readonly random: RandomText;
  /** How long budget and key may be held by other calls. */
  readonly patienceMs?: number;
};

export function createPreflight(parts: PreflightParts): Preflight {
  const patienceMs = parts.patienceMs ?? 10_000;
  return {
    async ask(payer, question, signal) {
      const patience = AbortSignal.any([signal, AbortSignal.timeout(patienceMs)]);
      const release = await parts.limit.acquire(payer.key, patience);
      if (release === undefined) return { kind: 'busy' };
      try {
        const admitted = await admit(parts, payer, { question, signal: patience });
        switch (admitted.kind) {
          case 'no-ledger':
          case 'refused':
            return admitted;
          case 'aborted':
            return { kind: 'busy' };
          case 'admitted':
            return await askAndSettle(parts, admitted.call, { question, signal });
        }
      } finally {
        release();
      }
    },
  };
}

async function admit(
  { settlements, admissions, clock, random }: PreflightParts,
  grant: Payer,
  { question, signal }: { question: Question; signal: AbortSignal },
): Promise<AdmissionOutcome | Extract<PreflightOutcome, { kind: 'no-ledger' }>> {
  const size = { textBytes: Buffer.byteLength(PROMPT + question.model) + ENVELOPE_BYTES, mediaTokens: 0 };
  const { cacheReadWeight } = grant;
  const input = estimateInput({ size, last: undefined, cacheReadWeight, now: clock.now() });
  const demand = { input, outputCap: OUTPUT_CAP, minOutputCap: OUTPUT_CAP, choices: 1 };
  try {
    await settlements.flush();
    return await admissions.admit({ id: `pf_${random(16)}`, grant, protocol: question.protocol, demand }, signal);
  } catch (error) {
    return { kind: 'no-ledger', reason: messageOf(error) };
  }
}

/** The JSON around prompt and model, at most. */
const ENVELOPE_BYTES = 120;

async function askAndSettle(
  parts: PreflightParts,
  call: OpenCall,
  { question, signal }: { question: Question; signal: AbortSignal },
): Promise<PreflightOutcome> {
  if (!(await markSent(parts, call))) {
    await parts.settlements.settle(call, nothingSpent('released'), []);
    return { kind: 'no-ledger', reason: 'the call could not be recorded' };
  }
  let spend: Spend = spendOfSilence(call.reserved);
  let attempts: readonly AttemptRecord[] = [];
  try {
    const findings = await askEndpoint(parts.dispatcher, question, signal);
    spend = spendOf(findings.exchanges, call);
    attempts = findings.exchanges.map(({ result }, index) => ({
      n: index + 1,
      status: result.kind === 'answered' ? result.status : undefined,
      outcome: result.kind,
      at: parts.clock.now(),
    }));
    return { kind: 'asked', findings };
  } finally {
    await parts.settlements.settle(call, spend, attempts);
  }
}

/** Tokens were spent by the one exchange that a model answered, or by one that nobody saw the end of. */
function spendOf(exchanges: readonly Exchange[], call: OpenCall): Spend {
  const bill = exchanges.map(billOf).find((one) => one !== undefined);
  if (bill !== undefined) return spendOfAnswer(bill.usage, call.reserved);
  const isOpen = exchanges.some(({ result }) => ['lost', 'timeout', 'aborted'].includes(result.kind));
  return isOpen ? spendOfSilence(call.reserved) : nothingSpent('error');
}
