import type { AgentId } from '../domain/ids.ts';

/** Why a call ended before its answer did. The signal's reason holds the first one. */
type EndCause = 'client-gone' | 'revoked' | 'shutdown';

interface LiveCall {
  readonly signal: AbortSignal;
  end(cause: EndCause): void;
  /** Everything of the call is over, its settlement included. */
  finish(): void;
}

/** The requests being served, so that a key or the whole server can be ended and awaited. */
export interface LiveCalls {
  begin(agent: AgentId): LiveCall;
  /** Ends the calls of one agent, or of all, and waits until they are finished. */
  endAll(cause: EndCause, agent?: AgentId): Promise<void>;
}

export function createLiveCalls(): LiveCalls {
  const calls = new Set<{ agent: AgentId; controller: AbortController; finished: Promise<void> }>();
  return {
    begin(agent) {
      const controller = new AbortController();
      const { promise: finished, resolve } = Promise.withResolvers<void>();
      const entry = { agent, controller, finished };
      calls.add(entry);
      return {
        signal: controller.signal,
        end: (cause) => controller.abort(cause),
        finish() {
          calls.delete(entry);
          resolve();
        },
      };
    },
    async endAll(cause, agent) {
      const ended = [...calls].filter((call) => agent === undefined || call.agent === agent);
      for (const call of ended) call.controller.abort(cause);
      await Promise.all(ended.map((call) => call.finished));
    },
  };
}
