import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import type { Readable } from 'node:stream';
import { clientHeaders } from './headers.ts';
import { isUsageOnlyChunk } from './protocols/chat.ts';
import type { Dialect, StreamReading } from './protocols/dialect.ts';
import { type Reserved, type Spend, spendOfStream } from './spend.ts';

/** What is needed to pass an answer on. `settle` is durable when it resolves, and comes before the answer's last byte. */
export interface Delivery {
  readonly response: ServerResponse;
  readonly requestId: string;
  readonly dialect: Dialect;
  readonly reserved: Reserved;
  readonly wantsStream: boolean;
  /** The usage chunk was asked for by the gateway alone. */
  readonly hidesUsageChunk: boolean;
  readonly secrets: readonly string[];
  /** The upstream URL as it is shown. */
  readonly url: string;
  readonly signal: AbortSignal;
  settle(spend: Spend): Promise<void>;
}

export interface Success {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Readable;
}

import { createSseSplitter, type SseEvent } from './sse.ts';

/**
 * Passes a stream on, whole events at a time and byte for byte, while a reader counts on the side. However it ends (its
 * end, a cut, the client gone, a revoked key, shutdown) it is settled once, here. A stream that was cut gets the
 * protocol's own error event: clients repeat one that just stops, and each repetition is billed.
 */
export async function deliverStream(success: Success, delivery: Delivery): Promise<void> {
  const { response, signal } = delivery;
  const splitter = createSseSplitter();
  const reader = delivery.dialect.streamReader();
  const shown = (events: readonly SseEvent[]) => {
    for (const event of events) reader.accept(event);
    return Buffer.concat(events.filter((event) => !isHidden(event, delivery)).map((event) => event.raw));
  };
  response.writeHead(success.status, clientHeaders(success.headers, delivery.secrets));
  response.flushHeaders();
  let tail = Buffer.alloc(0);
  let isWhole = false;
  try {
    for await (const chunk of success.body as AsyncIterable<Buffer>) {
      await write(response, shown(splitter.push(chunk)), signal);
      if (signal.aborted) break;
    }
    const last = splitter.end();
    if (last !== undefined) tail = shown([last]);
    isWhole = !signal.aborted;
  } catch {
    // Cut by the upstream, or by the signal; what was read until then decides below.
  }
  const reading = reader.reading();
  await delivery.settle(spendOfStream(reading, delivery.reserved));
  if (reading.finished) response.end(tail);
  else if (reading.failed) response.end();
  else
    response.end(
      delivery.dialect.streamError(isWhole && isForeign(reading) ? foreignMessage(delivery) : cutMessage(delivery)),
    );
}

function isHidden(event: SseEvent, delivery: Delivery): boolean {
  return delivery.hidesUsageChunk && event.data !== undefined && isUsageOnlyChunk(event.data);
}

/** Waits while the client reads more slowly than the model writes. */
async function write(response: ServerResponse, bytes: Buffer, signal: AbortSignal): Promise<void> {
  if (bytes.length === 0 || signal.aborted || response.write(bytes)) return;
  await new Promise<void>((resolve) => {
    const finish = () => {
      response.off('drain', finish);
      signal.removeEventListener('abort', finish);
      resolve();
    };
    response.on('drain', finish);
    signal.addEventListener('abort', finish);
  });
}

/** Nothing in it was an event of this protocol. */
function isForeign(reading: StreamReading): boolean {
  return reading.usage === undefined && reading.streamedBytes === 0;
}

function foreignMessage({ url, dialect }: Delivery): string {
  return `The stream of ${url} held no event of the ${dialect.protocol} protocol. Is the base URL right, and does it speak this protocol?`;
}

function cutMessage(delivery: Delivery): string {
  switch (delivery.signal.reason) {
    case 'shutdown':
      return 'The daemon is stopping; this answer was cut.';
    case 'revoked':
      return 'The key of this agent was revoked; this answer was cut.';
    default:
      return `The stream of ${delivery.url} broke off before its end.`;
  }
}
