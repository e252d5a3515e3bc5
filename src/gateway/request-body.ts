import type { IncomingMessage } from 'node:http';
import { brotliDecompressSync, gunzipSync, inflateSync, zstdDecompressSync } from 'node:zlib';
import { type Answer, badRequest } from './answers.ts';

/** The body as it came; an answer when it is too large. Rejects when the client goes away. */
export async function readBody(request: IncomingMessage): Promise<Buffer | Answer> {
  if (Number(request.headers['content-length'] ?? 0) > MAX_BODY_BYTES) return tooLarge();
  const chunks: Buffer[] = [];
  let length = 0;
  // Leaving the loop must not destroy the connection: the answer has to go back over it.
  for await (const chunk of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length > MAX_BODY_BYTES) return tooLarge();
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** The body's plain bytes, which are what is metered and sent; an answer when its encoding can't be read. */
export function decodeBody(bytes: Buffer, encoding: string | undefined): Buffer | Answer {
  const name = encoding?.trim().toLowerCase() ?? 'identity';
  if (name === 'identity' || name === '') return bytes;
  const decode = DECODERS.get(name);
  if (decode === undefined)
    return badRequest(`The content encoding "${name}" is not known here; send plain JSON.`, 415);
  try {
    return decode(bytes, { maxOutputLength: MAX_BODY_BYTES });
  } catch {
    return badRequest(`The body is no valid ${name} data, or larger than ${MAX_BODY_BYTES} bytes.`);
  }
}

function tooLarge(): Answer {
  return badRequest(`The body is larger than ${MAX_BODY_BYTES} bytes.`, 413);
}

const MAX_BODY_BYTES = 64 * 1024 * 1024;

type Decoder = (bytes: Buffer, options: { maxOutputLength: number }) => Buffer;
const DECODERS: ReadonlyMap<string, Decoder> = new Map<string, Decoder>([
  ['gzip', gunzipSync],
  ['x-gzip', gunzipSync],
  ['deflate', inflateSync],
  ['br', brotliDecompressSync],
  ['zstd', zstdDecompressSync],
]);
