import { pathFromBytes } from '../../domain/path.ts';
import type { PolicyIo } from './policy-io.ts';

/** Paths from standard input: NUL-separated when there is any NUL, else one a line. Bytes are kept as they are. */
export async function pathsOfStdin(io: PolicyIo): Promise<readonly string[]> {
  const bytes = await readAll(io.stdin());
  const separator = bytes.includes(0) ? 0 : NEWLINE;
  const paths: string[] = [];
  for (let start = 0; start < bytes.length; ) {
    const found = bytes.indexOf(separator, start);
    const end = found === -1 ? bytes.length : found;
    if (end > start) paths.push(pathFromBytes(bytes.subarray(start, end)));
    start = end + 1;
  }
  return paths;
}

const NEWLINE = 10;

async function readAll(input: AsyncIterable<Buffer> | string): Promise<Buffer> {
  if (typeof input === 'string') return Buffer.from(input, 'utf8');
  const chunks: Buffer[] = [];
  for await (const chunk of input) chunks.push(Buffer.from(chunk));
  return Buffer.concat(chunks);
}
