import type { Brand } from './brand.ts';

/**
 * A repository-relative path as git holds it: slash separated, no leading slash.
 *
 * Git paths are bytes. Valid UTF-8 is held as ordinary text; every byte that is not part of valid UTF-8 is held as
 * the lone surrogate U+DC00 + byte, so that `pathToBytes(pathFromBytes(b))` is `b` for every byte string.
 */
export type RepoPath = Brand<string, 'RepoPath'>;

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

export function pathFromBytes(bytes: Uint8Array): RepoPath {
  try {
    return decoder.decode(bytes) as RepoPath;
  } catch {
    return decodeLossless(bytes) as RepoPath;
  }
}

export function pathToBytes(path: RepoPath): Buffer {
  if (path.isWellFormed()) return Buffer.from(path, 'utf8');
  const parts: Buffer[] = [];
  let plain = '';
  for (const char of path) {
    const code = char.charCodeAt(0);
    if (char.length === 1 && code >= 0xdc80 && code <= 0xdcff) {
      parts.push(Buffer.from(plain, 'utf8'), Buffer.from([code - 0xdc00]));
      plain = '';
    } else {
      plain += char;
    }
  }
  parts.push(Buffer.from(plain, 'utf8'));
  return Buffer.concat(parts);
}

/** The fields of git's `-z` output as text, for records whose paths are the only bytes beyond ASCII. */
export function splitNulText(output: Uint8Array): string[] {
  try {
    // Mostly all of it is UTF-8, and then one decoding is enough.
    const fields = decoder.decode(output).split('\0');
    if (fields.at(-1) === '') fields.pop();
    return fields;
  } catch {
    return splitNul(output).map(pathFromBytes);
  }
}

/** Splits git's `-z` output into its NUL-terminated fields. */
export function splitNul(output: Uint8Array): Buffer[] {
  const buffer = Buffer.from(output.buffer, output.byteOffset, output.byteLength);
  const fields: Buffer[] = [];
  let start = 0;
  for (let end = buffer.indexOf(0, start); end !== -1; end = buffer.indexOf(0, start)) {
    fields.push(buffer.subarray(start, end));
    start = end + 1;
  }
  if (start < buffer.length) fields.push(buffer.subarray(start));
  return fields;
}

/**
 * Normalises a path that a person or an agent wrote: `./`, doubled slashes and inner `.` go, `a/../b` becomes `b`.
 * Undefined for what can't be a path inside the repository: absolute, climbing out, empty, holding NUL or a backslash.
 */
export function normalizeRepoPath(input: string): RepoPath | undefined {
  if (input === '' || input.startsWith('/') || input.includes('\0') || input.includes('\\')) return undefined;
  const parts: string[] = [];
  for (const part of input.split('/')) {
    if (part === '' || part === '.') continue;
    if (part !== '..') parts.push(part);
    else if (parts.pop() === undefined) return undefined;
  }
  return parts.length === 0 ? undefined : (parts.join('/') as RepoPath);
}

function decodeLossless(bytes: Uint8Array): string {
  let text = '';
  let index = 0;
  while (index < bytes.length) {
    const length = validSequenceLength(bytes, index);
    if (length === 0) {
      text += String.fromCharCode(0xdc00 + (bytes[index] ?? 0));
      index += 1;
    } else {
      text += decoder.decode(bytes.subarray(index, index + length));
      index += length;
    }
  }
  return text;
}

function validSequenceLength(bytes: Uint8Array, index: number): number {
  const first = bytes[index] ?? 0;
  const length = first < 0x80 ? 1 : first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : first >= 0xc2 ? 2 : 0;
  if (length === 0 || index + length > bytes.length) return 0;
  try {
    decoder.decode(bytes.subarray(index, index + length));
    return length;
  } catch {
    return 0;
  }
}
