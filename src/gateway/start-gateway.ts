import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Agent } from 'undici';
import type { Clock, RandomText } from '../domain/ids.ts';
import type { NewEvent } from '../store/events.ts';
import type { Store } from '../store/store.ts';
import { createAdmissions } from './admission.ts';
import { createDayWindow } from './day-window.ts';
import { createEstimateBook } from './estimate.ts';
import type { Gateway, Refusal } from './gateway.ts';
import type { GatewayLog } from './gateway-log.ts';
import { type HandlerParts, handleRequest, refuseUpgrade } from './handler.ts';
import { createInFlightLimit } from './in-flight-limit.ts';
import { createJournal } from './journal.ts';
import { createKeyPace } from './key-pace.ts';
import { createKeyRing } from './key-ring.ts';
import { closeServer, listenOnLoopback, listenOnSocket } from './listen.ts';
import { createLiveCalls } from './live-calls.ts';
import { createPreflight, type Preflight } from './preflight/preflight.ts';
import type { PriceOf } from './prices.ts';
import { MAX_WAIT_MS, type RetryPolicy } from './retry.ts';
import { rowAmount } from './row-amount.ts';
import { createSettlements } from './settlement.ts';
import { upstreamUrl } from './upstream-url.ts';

export interface GatewayOptions {
  readonly store: Store;
  readonly clock: Clock;
  /** Must be unpredictable: virtual keys are made of it. */
  readonly random: RandomText;
  readonly upstream: {
    readonly baseUrl: string;
    readonly pathStyle: 'auto' | 'raw';
    readonly retry: RetryPolicy;
    /** Time until the head of an answer. */
    readonly requestTimeoutMs: number;
    readonly maxInFlightPerKey: number;
    /** Longest silence inside an answer; by default the request timeout, but at least ten minutes (long thinking). */
    readonly idleTimeoutMs?: number;
  };
  readonly prices: PriceOf;
  readonly log: GatewayLog;
  /** Unix socket to make; its directory must exist and be private. */
  readonly socketPath: string;
  /** Called after an event is durable; must not throw. */
  readonly onEvent: (event: NewEvent) => void;
}

export interface StartedGateway extends Gateway {
  /** The minimal requests of `doctor`, on the same ledger. */
  readonly preflight: Preflight;
}

/** Starts the metering proxy on a free loopback port and on the socket. `recoverCalls` must have run before. */
export async function startGateway(options: GatewayOptions): Promise<StartedGateway> {
  const dispatcher = new Agent({ connect: { timeout: 10_000 } });
  const keys = createKeyRing(options.random);
  const live = createLiveCalls();
  const refusals = new Map<string, Refusal>();
  const { serve, raise, recheck, flush, preflight } = createLedger(options, dispatcher, refusals);
  const parts: HandlerParts = {
    serve,
    keys,
    live,
    random: options.random,
    clock: options.clock,
    log: options.log,
    port: () => port,
  };
  const servers = [createServer(), createServer()] as const;
  for (const server of servers) attach(server, parts);
  await listenOnLoopback(servers[0]);
  const { port } = servers[0].address() as AddressInfo;
  await listenOnSocket(servers[1], options.socketPath);

  async function stop(): Promise<void> {
    const closed = servers.map(closeServer);
    await live.endAll('shutdown');
    await flush();
    for (const server of servers) server.closeAllConnections();
    await Promise.all(closed);
    await dispatcher.destroy();
  }
  let stopping: Promise<void> | undefined;

  return {
    url: `http://127.0.0.1:${port}`,
    port,
    socketPath: options.socketPath,
    issue: (grant) => keys.issue(grant),
    async revoke(agent) {
      keys.forget(agent);
      refusals.delete(agent);
      await live.endAll('revoked', agent);
    },
    refusal: (agent) => refusals.get(agent),
    raise,
    recheck,
    preflight,
    stop: () => (stopping ??= stop()),
  };
}

/** The parts around the ledger, wired. */
function createLedger(options: GatewayOptions, dispatcher: Agent, refusals: Map<string, Refusal>) {
  const { store, clock, upstream } = options;
  const journal = createJournal(store, options.onEvent);
  const admissions = createAdmissions({ store, journal, clock, days: createDayWindow(store, clock) });
  const onSettled = () => admissions.changed();
  const settlements = createSettlements({ journal, clock, prices: options.prices, log: options.log, onSettled });
  const chance = () => Number.parseInt(options.random(6), 36) / 36 ** 6;
  const maxWaitMs = upstream.retry.maxAttempts * MAX_WAIT_MS;
  const pace = createKeyPace({ nowMs: () => performance.now(), maxWaitMs });
  const serve: HandlerParts['serve'] = {
    admissions,
    settlements,
    journal,
    clock,
    prices: options.prices,
    limit: createInFlightLimit(upstream.maxInFlightPerKey),
    book: createEstimateBook(),
    upstream: { dispatcher, retry: upstream.retry, pace, clock, chance },
    timeouts: {
      answerMs: upstream.requestTimeoutMs,
      idleMs: upstream.idleTimeoutMs ?? Math.max(upstream.requestTimeoutMs, 600_000),
    },
    urlOf: (path, search) => upstreamUrl({ baseUrl: upstream.baseUrl, pathStyle: upstream.pathStyle, path, search }),
    onAdmission(grant, refusal) {
      if (refusal === undefined) refusals.delete(grant.agent);
      else refusals.set(grant.agent, refusal);
    },
  };
  const recheck = () => admissions.changed();
  const raise: Gateway['raise'] = async (scope, limit) => {
    const { id, unit = 'tokens' } = scope;
    const row = { statement: 'budget-raise', params: { scope: id, cap_milli: rowAmount(limit, unit) } };
    await journal.commit([row], [{ at: clock.now(), type: 'budget-raised', data: { scope: id, unit, limit } }]);
    recheck();
  };
  // What can't be written now is forfeit at the next start.
  const flush = () => settlements.flush().catch(() => undefined);
  const preflight = createPreflight({ ...serve, dispatcher, random: options.random });
  return { serve, raise, recheck, flush, preflight };
}

function attach(server: Server, parts: HandlerParts): void {
  server.on('request', (request, response) => void handleRequest(parts, request, response));
  server.on('upgrade', (_request, socket) => refuseUpgrade(socket));
  // Longer than clients keep an idle connection, so that none is closed under a request being sent.
  server.keepAliveTimeout = 65_000;
}
