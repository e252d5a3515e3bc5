import type { Clock } from '../domain/ids.ts';
import { NO_USAGE } from '../domain/usage.ts';
import type { Protocol } from '../policy/policy.ts';
import { eventWrite } from '../store/events.ts';
import type { Row, Store, Write } from '../store/store.ts';
import type { Hold } from './open-call.ts';
import type { PriceOf } from './prices.ts';

/**
 * Settles what a dead daemon left: a call that was only reserved is released, one that was sent is charged in full
 * (`forfeit`: its reserved input as input, its reserved output as output), since the upstream may have worked for it.
 * Run it once at start, before the gateway. Gives how many of each there were.
 */
export async function recoverCalls(
  store: Store,
  parts: { clock: Clock; prices: PriceOf },
): Promise<{ released: number; forfeit: number }> {
  const counts = { released: 0, forfeit: 0 };
  for (const row of store.read('calls-unsettled')) {
    const outcome = row['state'] === 'sent' ? 'forfeit' : 'released';
    await store.write(recoveryWrites(row, outcome, parts));
    counts[outcome]++;
  }
  return counts;
}

function recoveryWrites(row: Row, outcome: 'released' | 'forfeit', parts: { clock: Clock; prices: PriceOf }): Write[] {
  const isForfeit = outcome === 'forfeit';
  const input = isForfeit ? Number(row['reserved_input']) : 0;
  const output = isForfeit ? Number(row['reserved_output']) : 0;
  const spentMilli = isForfeit ? Number(row['reserved_milli']) : 0;
  const at = parts.clock.now();
  const call = { model: String(row['model']), protocol: row['protocol'] as Protocol, at };
  const usdMicros = isForfeit ? parts.prices({ ...call, usage: { ...NO_USAGE, input, output } }) : 0;
  const id = String(row['id']);
  const settled = {
    statement: 'call-settle',
    params: {
      id,
      state: isForfeit ? 'forfeit' : 'settled',
      requests: Number(row['answered']),
      input,
      cache_read: 0,
      cache_write_5m: 0,
      cache_write_1h: 0,
      output,
      reasoning: 0,
      work_milli: spentMilli,
      estimated_tokens: 0,
      forfeit_tokens: input + output,
      usd_micros: usdMicros ?? null,
      source: outcome,
      settled_at: at,
    },
    expectChanges: 1,
  };
  const balances = holdsOf(row).map(({ scope, amount }) => ({
    statement: 'budget-settle',
    params: { scope, reserved_milli: amount, spent_milli: isForfeit ? amount : 0 },
  }));
  const data = { call: id, input, output };
  const event = eventWrite({ at, type: `call-${outcome}`, ...origin(row), data });
  return [settled, ...balances, event];
}

/** Rows of the first version name only the scopes, which all held the same. */
function holdsOf(row: Row): readonly Pick<Hold, 'scope' | 'amount'>[] {
  const holds = JSON.parse(String(row['scopes'])) as readonly (string | Hold)[];
  return holds.map((hold) =>
    typeof hold === 'string' ? { scope: hold, amount: Number(row['reserved_milli']) } : hold,
  );
}

function origin(row: Row): { run?: string; task?: string; role: string; agent?: string } {
  const text = (name: string) => (row[name] === null ? {} : { [name]: String(row[name]) });
  return { ...text('run'), ...text('task'), ...text('agent'), role: String(row['role']) };
}
