import type { WriteOutcome } from '../store/store.ts';
import type { ScopeBalance } from './ledger.ts';
import type { Hold } from './open-call.ts';

/**
 * Reservations on their way to the disk: later decisions count them as held already. A row may be readable a moment
 * before its write resolves and is then counted twice, so nothing is clamped or refused while any is under way.
 */
export interface UnderWay {
  any(): boolean;
  /** Resolves when those that are under way now have ended, one way or the other. */
  none(): Promise<unknown>;
  counted(balance: ScopeBalance): ScopeBalance;
  /** Resolves when `written` has; false when a guard did not hold. */
  hold(holds: readonly Hold[], written: Promise<WriteOutcome>): Promise<boolean>;
}

export function createUnderWay(): UnderWay {
  const amounts = new Map<string, number>();
  const writing = new Set<Promise<unknown>>();
  const add = (holds: readonly Hold[], sign: 1 | -1): void => {
    for (const { scope, amount } of holds) {
      const sum = (amounts.get(scope) ?? 0) + sign * amount;
      if (sum === 0) amounts.delete(scope);
      else amounts.set(scope, sum);
    }
  };
  return {
    any: () => writing.size > 0,
    none: () => Promise.allSettled(writing),
    counted: (balance) => ({ ...balance, held: balance.held + (amounts.get(balance.scope) ?? 0) }),
    async hold(holds, written) {
      add(holds, 1);
      writing.add(written);
      try {
        return (await written).committed;
      } finally {
        writing.delete(written);
        add(holds, -1);
      }
    },
  };
}
