import { Agent } from 'undici';
import type { Clock, RandomText } from '../../domain/ids.ts';
import type { Store } from '../../store/store.ts';
import { createAdmissions } from '../admission.ts';
import { createDayWindow } from '../day-window.ts';
import type { GatewayLog } from '../gateway-log.ts';
import { createInFlightLimit } from '../in-flight-limit.ts';
import { createJournal } from '../journal.ts';
import { cataloguePrice } from '../prices.ts';
import { createSettlements } from '../settlement.ts';
import { createPreflight, type Preflight } from './preflight.ts';

/**
 * A preflight without a gateway, for when no daemon runs. The caller holds the daemon lock and has run `recoverCalls`.
 * `stop` ends its connections; the store stays open.
 */
export function openPreflight(options: {
  readonly store: Store;
  readonly clock: Clock;
  readonly random: RandomText;
  readonly log: GatewayLog;
  readonly maxInFlightPerKey: number;
}): Preflight & { stop(): Promise<void> } {
  const { store, clock, random, log } = options;
  const dispatcher = new Agent({ connect: { timeout: 10_000 } });
  const journal = createJournal(store, () => undefined);
  const admissions = createAdmissions({ store, journal, clock, days: createDayWindow(store, clock) });
  const onSettled = () => admissions.changed();
  const settlements = createSettlements({ journal, clock, prices: cataloguePrice, log, onSettled });
  const limit = createInFlightLimit(options.maxInFlightPerKey);
  const preflight = createPreflight({ admissions, settlements, journal, clock, limit, dispatcher, random });
  return { ...preflight, stop: () => dispatcher.destroy() };
}
