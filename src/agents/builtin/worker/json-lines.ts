import type { Readable } from 'node:stream';

/** Calls back for every line that ends in `\n`. Not node:readline: that one also splits at U+2028, which JSON allows. */
export function onLines(stream: Readable, on: { line(line: string): void; end(): void }): void {
  let parts: string[] = [];
  stream.setEncoding('utf8');
  stream.on('data', (chunk: string) => {
    const [first = '', ...others] = chunk.split('\n');
    parts.push(first);
    for (const next of others) {
      on.line(parts.join(''));
      parts = [next];
    }
  });
  stream.on('error', () => undefined);
  stream.once('close', () => on.end());
}
