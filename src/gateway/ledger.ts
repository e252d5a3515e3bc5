import type { BudgetUnit } from '../domain/amount.ts';
import type { Refusal } from './gateway.ts';
import { unitAmount } from './row-amount.ts';

/** A scope's row as the ledger holds it (row-amount.ts), with the label that people see. */
export interface ScopeBalance {
  readonly scope: string;
  readonly unit: BudgetUnit;
  readonly label: string;
  /** Undefined for unlimited. */
  readonly cap: number | undefined;
  readonly spent: number;
  readonly held: number;
}

/** What a call wants. Work tokens. */
export interface Demand {
  readonly input: number;
  readonly outputCap: number;
  /** The smallest cap with which sending it makes sense. */
  readonly minOutputCap: number;
  readonly choices: number;
  /** The most that it can cost with so many tokens of output, in millionths of a dollar; undefined when nobody knows. */
  readonly dearest?: (output: number) => number | undefined;
}

export type Decision =
  | {
      readonly kind: 'admit';
      readonly outputCap: number;
      readonly reservedMilli: number;
      /** Undefined when the price is unknown or no scope counts money. */
      readonly reservedMicros: number | undefined;
    }
  /** Other calls' reservations are in the way; look again when one of them has settled. */
  | { readonly kind: 'wait' }
  | { readonly kind: 'refuse'; readonly refusal: Refusal };

/**
 * Whether a call may be sent now, and with which output cap: as asked when that fits everywhere, later when only
 * reservations of others stand in the way, with a smaller cap when less is left, else not at all.
 */
export function decideAdmission(demand: Demand, balances: readonly ScopeBalance[]): Decision {
  const fits = (outputCap: number, room: (balance: ScopeBalance) => number) =>
    balances.every((balance) => room(balance) >= costOf(demand, balance, outputCap));
  if (fits(demand.outputCap, freeOf)) return admit(demand, balances, demand.outputCap);
  if (fits(demand.outputCap, unspentOf)) return { kind: 'wait' };
  if (fits(demand.minOutputCap, freeOf)) {
    const range = { fitting: demand.minOutputCap, tooLarge: demand.outputCap };
    const outputCap = largest(range, (candidate) => fits(candidate, freeOf));
    return admit(demand, balances, outputCap);
  }
  const tightest = balances.find((balance) => unspentOf(balance) < costOf(demand, balance, demand.minOutputCap));
  if (tightest === undefined) return { kind: 'wait' };
  return { kind: 'refuse', refusal: refusalOf(tightest, demand) };
}

/** Never below 1024 (or what was asked, if that is less), and above the thinking budget, or the upstream refuses. */
export function minOutputCap(askedCap: number, thinkingBudget: number): number {
  const useful = thinkingBudget > 0 ? thinkingBudget + 1024 : 1024;
  return Math.min(askedCap, useful);
}

function admit(demand: Demand, balances: readonly ScopeBalance[], outputCap: number): Decision {
  const countsMoney = balances.some((balance) => balance.unit === 'usd');
  const reservedMicros = countsMoney ? demand.dearest?.(outputCap * demand.choices) : undefined;
  return { kind: 'admit', outputCap, reservedMilli: milliTokens(demand, outputCap), reservedMicros };
}

/** By halving: prices have steps, so what fits can't be solved for. */
function largest(range: { fitting: number; tooLarge: number }, fits: (outputCap: number) => boolean): number {
  let { fitting, tooLarge } = range;
  while (tooLarge - fitting > 1) {
    const middle = fitting + Math.floor((tooLarge - fitting) / 2);
    if (fits(middle)) fitting = middle;
    else tooLarge = middle;
  }
  return fitting;
}

/** Nothing costs anything where there is no limit, and what can't be known never fits under one. */
function costOf(demand: Demand, balance: ScopeBalance, outputCap: number): number {
  if (balance.cap === undefined) return 0;
  switch (balance.unit) {
    case 'tokens':
      return milliTokens(demand, outputCap);
    case 'usd':
      return demand.dearest?.(outputCap * demand.choices) ?? Number.POSITIVE_INFINITY;
  }
}

function milliTokens(demand: Demand, outputCap: number): number {
  return (demand.input + outputCap * demand.choices) * 1000;
}

function unspentOf(balance: ScopeBalance): number {
  return balance.cap === undefined ? Number.POSITIVE_INFINITY : balance.cap - balance.spent;
}

function freeOf(balance: ScopeBalance): number {
  return unspentOf(balance) - balance.held;
}

function refusalOf(balance: ScopeBalance, demand: Demand): Refusal {
  const { scope, unit, label } = balance;
  const needed = costOf(demand, balance, demand.minOutputCap);
  const isKnown = Number.isFinite(needed);
  return {
    scope,
    unit,
    label,
    used: shown(balance.spent, unit, Math.ceil),
    held: shown(balance.held, unit, Math.ceil),
    limit: shown(balance.cap ?? 0, unit, Math.floor),
    needed: isKnown ? shown(needed, unit, Math.ceil) : 0,
    ...(isKnown ? {} : { isUnpriced: true }),
  };
}

/** Whole tokens; money is exact as it is. */
function shown(rowValue: number, unit: BudgetUnit, round: (value: number) => number): number {
  const amount = unitAmount(rowValue, unit);
  return unit === 'tokens' ? round(amount) : amount;
}
