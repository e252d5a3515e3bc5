import { on } from 'node:events';
import { createInterface } from 'node:readline/promises';
import type { ReadStream, WriteStream } from 'node:tty';
import { decodeKeys, type Key } from '../tui/keys.ts';
import type { Terminal } from './io.ts';

/** The person behind a pair of terminal streams. */
export function openTerminal(input: ReadStream, output: WriteStream, signal: AbortSignal): Terminal {
  return {
    async askLine(question) {
      const lines = createInterface({ input, output });
      const closed = new Promise<undefined>((resolve) => lines.once('close', () => resolve(undefined)));
      try {
        return await Promise.race([lines.question(question, { signal }), closed]);
      } finally {
        lines.close();
      }
    },
    async withKeys(use) {
      const stop = new AbortController();
      const keys = keyPresses(input, AbortSignal.any([signal, stop.signal]));
      input.setRawMode(true);
      try {
        return await use(async () => (await keys.next()).value);
      } finally {
        stop.abort();
        input.setRawMode(false);
        input.pause();
      }
    },
  };
}

/** Ends when the input ends or `signal` is aborted. */
async function* keyPresses(input: ReadStream, signal: AbortSignal): AsyncGenerator<Key, undefined> {
  input.setEncoding('utf8');
  try {
    const chunks = on(input, 'data', { signal, close: ['end', 'close'] });
    // A stream that an earlier question has paused does not start to flow because somebody listens.
    input.resume();
    for await (const [chunk] of chunks) yield* decodeKeys(String(chunk));
  } catch (error) {
    if (!signal.aborted) throw error;
  }
  return undefined;
}
