import type { Refusal } from './gateway.ts';

/** A scope's row as the ledger holds it, with the label that people see. Thousandths of a work token. */
export interface ScopeBalance {
  readonly scope: string;
  readonly label: string;
  /** Undefined for unlimited. */
  readonly capMilli: number | undefined;
  readonly spentMilli: number;
  readonly heldMilli: number;
}

/** What a call wants. Work tokens. */
export interface Demand {
  readonly input: number;
  readonly outputCap: number;
  /** The smallest cap with which sending it makes sense. */
  readonly minOutputCap: number;
  readonly choices: number;
}

export type Decision =
  | { readonly kind: 'admit'; readonly outputCap: number; readonly reservedMilli: number }
  /** Other calls' reservations are in the way; look again when one of them has settled. */
  | { readonly kind: 'wait' }
  | { readonly kind: 'refuse'; readonly refusal: Refusal };

/**
 * Whether a call may be sent now, and with which output cap: as asked when that fits everywhere, later when only
 * reservations of others stand in the way, with a smaller cap when less is left, else not at all.
 */
export function decideAdmission(demand: Demand, balances: readonly ScopeBalance[]): Decision {
  const fullMilli = reservationMilli(demand, demand.outputCap);
  if (balances.every((balance) => freeMilli(balance) >= fullMilli)) {
    return { kind: 'admit', outputCap: demand.outputCap, reservedMilli: fullMilli };
  }
  if (balances.every((balance) => unspentMilli(balance) >= fullMilli)) return { kind: 'wait' };

  const minMilli = reservationMilli(demand, demand.minOutputCap);
  const free = Math.min(...balances.map(freeMilli));
  if (free >= minMilli) {
    const outputCap = Math.floor((free / 1000 - demand.input) / demand.choices);
    return { kind: 'admit', outputCap, reservedMilli: reservationMilli(demand, outputCap) };
  }
  const tightest = balances.find((balance) => unspentMilli(balance) < minMilli);
  if (tightest === undefined) return { kind: 'wait' };
  return { kind: 'refuse', refusal: refusalOf(tightest, minMilli) };
}

/** Never below 1024 (or what was asked, if that is less), and above the thinking budget, or the upstream refuses. */
export function minOutputCap(askedCap: number, thinkingBudget: number): number {
  const useful = thinkingBudget > 0 ? thinkingBudget + 1024 : 1024;
  return Math.min(askedCap, useful);
}

function reservationMilli(demand: Demand, outputCap: number): number {
  return (demand.input + outputCap * demand.choices) * 1000;
}

function unspentMilli(balance: ScopeBalance): number {
  return balance.capMilli === undefined ? Number.POSITIVE_INFINITY : balance.capMilli - balance.spentMilli;
}

function freeMilli(balance: ScopeBalance): number {
  return unspentMilli(balance) - balance.heldMilli;
}

function refusalOf(balance: ScopeBalance, neededMilli: number): Refusal {
  return {
    scope: balance.scope,
    label: balance.label,
    used: Math.ceil(balance.spentMilli / 1000),
    held: Math.ceil(balance.heldMilli / 1000),
    limit: Math.floor((balance.capMilli ?? 0) / 1000),
    needed: Math.ceil(neededMilli / 1000),
  };
}
