/** Where a member of the outermost object stands in the bytes: `{"key": value}`. */
interface Member {
  readonly key: string;
  readonly valueStart: number;
  /** Exclusive. */
  readonly valueEnd: number;
}

export interface TopLevel {
  readonly members: readonly Member[];
  /** Just behind the opening brace. */
  readonly insertAt: number;
}

/**
 * Finds the members of the outermost object in bytes that are known to be valid JSON. A scanner, so that a field can be
 * changed without re-serialising: cached prefixes and signed blocks must stay equal byte for byte.
 */
export function scanTopLevel(bytes: Buffer): TopLevel | undefined {
  let at = skipSpace(bytes, 0);
  if (bytes[at] !== OPEN_BRACE) return undefined;
  const insertAt = at + 1;
  const members: Member[] = [];
  at = skipSpace(bytes, insertAt);
  while (at < bytes.length && bytes[at] === QUOTE) {
    const keyEnd = stringEnd(bytes, at);
    const key: unknown = JSON.parse(bytes.toString('utf8', at, keyEnd));
    const valueStart = skipSpace(bytes, skipSpace(bytes, keyEnd) + 1);
    const valueEnd = endOfValue(bytes, valueStart);
    members.push({ key: String(key), valueStart, valueEnd });
    at = skipSpace(bytes, valueEnd);
    if (bytes[at] === COMMA) at = skipSpace(bytes, at + 1);
  }
  return { members, insertAt };
}

/** Sets members to the given JSON texts: in place where the key is there, else as the first members. */
export function spliceMembers(bytes: Buffer, topLevel: TopLevel, values: ReadonlyMap<string, string>): Buffer {
  if (values.size === 0) return bytes;
  const present = topLevel.members.filter((member) => values.has(member.key));
  const added = [...values].filter(([key]) => !present.some((member) => member.key === key));
  const parts: Buffer[] = [bytes.subarray(0, topLevel.insertAt)];
  const inserted = added.map(([key, json]) => `${JSON.stringify(key)}:${json}`).join(',');
  const separator = inserted !== '' && topLevel.members.length > 0 ? ',' : '';
  parts.push(Buffer.from(inserted + separator));
  let from = topLevel.insertAt;
  for (const member of present) {
    parts.push(bytes.subarray(from, member.valueStart), Buffer.from(values.get(member.key) ?? 'null'));
    from = member.valueEnd;
  }
  parts.push(bytes.subarray(from));
  return Buffer.concat(parts);
}

const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;

function skipSpace(bytes: Buffer, from: number): number {
  let at = from;
  while (at < bytes.length && isSpace(bytes[at] ?? 0)) at++;
  return at;
}

function isSpace(byte: number): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;
}

/** The index behind the closing quote of the string that starts at `from`. */
function stringEnd(bytes: Buffer, from: number): number {
  for (let at = from + 1; at < bytes.length; at++) {
    if (bytes[at] === BACKSLASH) at++;
    else if (bytes[at] === QUOTE) return at + 1;
  }
  return bytes.length;
}

function endOfValue(bytes: Buffer, from: number): number {
  let depth = 0;
  let at = from;
  while (at < bytes.length) {
    const byte = bytes[at] ?? 0;
    if (byte === QUOTE) {
      at = stringEnd(bytes, at);
      if (depth === 0) return at;
      continue;
    }
    if (depth === 0 && at > from && (byte === COMMA || byte === CLOSE_BRACE || isSpace(byte))) return at;
    if (byte === OPEN_BRACE || byte === OPEN_BRACKET) depth++;
    else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) {
      depth--;
      if (depth === 0) return at + 1;
    }
    at++;
  }
  return bytes.length;
}
