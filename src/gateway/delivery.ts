import { pipeline, Readable } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import type { Usage } from '../domain/usage.ts';
import { sendAnswer, upstreamAnswer } from './answers.ts';
import { clientHeaders } from './headers.ts';
import { type JsonObject, parseObject } from './json.ts';
import type { Dialect, StreamReading } from './protocols/dialect.ts';
import { DIALECTS } from './protocols/dialects.ts';
import { replayAsStream } from './protocols/replay.ts';
import { nothingSpent, spendOfAnswer, spendOfSilence, spendOfStream } from './spend.ts';
import { createSseSplitter } from './sse.ts';
import { type Delivery, deliverStream, type Success } from './stream-delivery.ts';

/** Passes a successful answer on if it is one, and settles the call whatever comes. */
export async function deliver(success: Success, delivery: Delivery): Promise<void> {
  const contentType = String(success.headers['content-type'] ?? 'no content type');
  const isEvents = /^text\/event-stream/i.test(contentType);
  const body = decoded(success.body, String(success.headers['content-encoding'] ?? 'identity'));
  if (body === undefined) {
    success.body.destroy();
    await delivery.settle(spendOfSilence(delivery.reserved));
    return wrongAnswer(delivery, `a content encoding that is not known here`);
  }
  if (delivery.wantsStream && isEvents) return deliverStream({ ...success, body }, delivery);

  const bytes = await collect(body);
  if (bytes === undefined) {
    await delivery.settle(spendOfSilence(delivery.reserved));
    return wrongAnswer(delivery, 'and then broke off in the middle of its answer');
  }
  const answer = isEvents ? undefined : parseObject(bytes.toString('utf8'));
  const isAnswer = answer !== undefined && delivery.dialect.isAnswer(answer);
  const usage = answer === undefined ? undefined : statedUsage(answer, delivery.dialect);
  const events = delivery.wantsStream ? eventsOf(bytes, isAnswer ? answer : undefined, delivery.dialect) : undefined;
  if (events !== undefined) {
    const headers = { ...success.headers, 'content-type': 'text/event-stream; charset=utf-8' };
    return deliverStream({ status: success.status, headers, body: Readable.from([events]) }, delivery);
  }
  if (isAnswer) {
    await delivery.settle(spendOfAnswer(usage, delivery.reserved, delivery.dialect.isCutByCap(answer)));
    const headers = { ...clientHeaders(success.headers, delivery.secrets), 'content-length': bytes.length };
    delivery.response.writeHead(success.status, headers);
    delivery.response.end(bytes);
    return;
  }
  const hasWorked = isAnswer || usage !== undefined;
  if (isEvents) await delivery.settle(spendOfStream(readEvents(bytes, delivery.dialect), delivery.reserved));
  else await delivery.settle(hasWorked ? spendOfAnswer(usage, delivery.reserved) : nothingSpent('error'));
  return wrongAnswer(delivery, describe(contentType, bytes, delivery));
}

/** The stream that was asked for, out of a whole answer or of a stream that came under another content type. */
function eventsOf(bytes: Buffer, answer: JsonObject | undefined, dialect: Dialect): Buffer | undefined {
  if (answer !== undefined) return Buffer.from(replayAsStream(dialect.protocol, answer));
  return /^\s*(?:(?:event|data|id|retry):|:)/.test(bytes.toString('utf8', 0, 200)) ? bytes : undefined;
}

/** Whoever answers in another protocol has worked all the same, and says so in its own words. */
function statedUsage(answer: JsonObject, own: Dialect): Usage | undefined {
  const others = Object.values(DIALECTS).filter((dialect) => dialect.isAnswer(answer));
  return [own, ...others].map((dialect) => dialect.usageOf(answer)).find((usage) => usage !== undefined);
}

function describe(contentType: string, bytes: Buffer, delivery: Delivery): string {
  const wanted = delivery.wantsStream ? 'an event stream' : 'a JSON answer';
  const start = bytes.toString('utf8', 0, 200).replace(/\s+/g, ' ').trim();
  return `with ${contentType} where ${wanted} of the ${delivery.dialect.protocol} protocol was asked for; it begins: ${start}`;
}

function wrongAnswer(delivery: Delivery, what: string): void {
  const message = `The model endpoint ${delivery.url} answered 200 ${what}. Is the base URL right, and does it speak this protocol?`;
  sendAnswer(delivery.response, delivery.requestId, upstreamAnswer(502, message));
}

/** The body's plain bytes. Identity was asked for, but not every upstream listens. */
function decoded(body: Readable, encoding: string): Readable | undefined {
  if (encoding === 'identity' || encoding === '') return body;
  const make = DECODERS.get(encoding.toLowerCase());
  if (make === undefined) return undefined;
  // A failure destroys the decoder, where the reader meets it.
  return pipeline(body, make(), () => undefined);
}

const DECODERS: ReadonlyMap<string, () => NodeJS.ReadWriteStream & Readable> = new Map([
  ['gzip', createGunzip],
  ['deflate', createInflate],
  ['br', createBrotliDecompress],
]);

/** Undefined when the body breaks off. */
async function collect(body: Readable): Promise<Buffer | undefined> {
  const chunks: Buffer[] = [];
  try {
    for await (const chunk of body as AsyncIterable<Buffer>) chunks.push(chunk);
    return Buffer.concat(chunks);
  } catch {
    return undefined;
  }
}

function readEvents(bytes: Buffer, dialect: Dialect): StreamReading {
  const splitter = createSseSplitter();
  const reader = dialect.streamReader();
  for (const event of splitter.push(bytes)) reader.accept(event);
  const tail = splitter.end();
  if (tail !== undefined) reader.accept(tail);
  return reader.reading();
}
