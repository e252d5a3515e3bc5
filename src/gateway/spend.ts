import { NO_USAGE, type Usage } from '../domain/usage.ts';
import { estimateOutput } from './estimate.ts';
import type { StreamReading } from './protocols/dialect.ts';

/** Where the counts of a settled call come from. */
type SpendSource = 'upstream' | 'partial' | 'estimated' | 'unanswered' | 'error' | 'released';

export interface Spend {
  readonly source: SpendSource;
  readonly usage: Usage;
  /** Tokens of `usage` that nobody stated. */
  readonly estimatedTokens: number;
  /** The model was stopped by the output cap that was sent. */
  readonly isCutByCap?: boolean;
}

export interface Reserved {
  readonly input: number;
  /** All choices together. */
  readonly output: number;
}

/** Nothing was used: it was never sent, or it was answered with an error. */
export function nothingSpent(source: 'released' | 'error'): Spend {
  return { source, usage: NO_USAGE, estimatedTokens: 0 };
}

/** An answer in one piece. */
export function spendOfAnswer(usage: Usage | undefined, reserved: Reserved, isCutByCap = false): Spend {
  const spend: Spend =
    usage === undefined
      ? estimated('estimated', reserved.input, reserved.output)
      : { source: 'upstream', usage, estimatedTokens: 0 };
  return isCutByCap ? { ...spend, isCutByCap } : spend;
}

/**
 * A stream, however it ended. A complete one is what the upstream stated. A cut one keeps the input that was stated at
 * its start and has its output estimated from what was seen, never less than stated.
 */
export function spendOfStream(reading: StreamReading, reserved: Reserved): Spend {
  const spend = countsOfStream(reading, reserved);
  return reading.cutByCap ? { ...spend, isCutByCap: true } : spend;
}

function countsOfStream(reading: StreamReading, reserved: Reserved): Spend {
  const seen = estimateOutput(reading.streamedBytes);
  if (reading.usage === undefined) return estimated('estimated', reserved.input, seen);
  if (reading.finished) return { source: 'upstream', usage: reading.usage, estimatedTokens: 0 };
  const output = Math.max(reading.usage.output, seen);
  return { source: 'partial', usage: { ...reading.usage, output }, estimatedTokens: output - reading.usage.output };
}

/** It was sent and no byte of an answer came: the upstream may have worked in full. */
export function spendOfSilence(reserved: Reserved): Spend {
  return estimated('unanswered', reserved.input, reserved.output);
}

/** Adds attempts whose connection broke after they were sent: their input may have been read and billed. */
export function withLostAttempts(spend: Spend, lost: number, reserved: Reserved): Spend {
  if (lost === 0) return spend;
  const extra = lost * reserved.input;
  return {
    ...spend,
    usage: { ...spend.usage, input: spend.usage.input + extra },
    estimatedTokens: spend.estimatedTokens + extra,
  };
}

function estimated(source: SpendSource, input: number, output: number): Spend {
  return { source, usage: { ...NO_USAGE, input, output }, estimatedTokens: input + output };
}
