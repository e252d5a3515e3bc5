/**
 * The control socket speaks JSON lines: one request a line from the client, one response a line back, matched by `id`.
 * Requests of one connection run at the same time and may be answered in any order.
 */
export interface WireRequest {
  readonly id: number;
  readonly method: string;
  readonly params?: unknown;
}

export type WireResponse =
  | { readonly id: number; readonly result?: unknown }
  | { readonly id: number; readonly error: WireError };

export interface WireError {
  readonly code: string;
  readonly message: string;
  readonly details: readonly string[];
}

export function encodeLine(value: WireRequest | WireResponse): string {
  return `${JSON.stringify(value)}\n`;
}

/** Cuts a byte stream into lines. The returned function is false once a line is longer than `maxBytes`. */
export function lineSplitter(maxBytes: number, onLine: (line: string) => void): (chunk: Buffer) => boolean {
  let held: Buffer[] = [];
  let heldBytes = 0;
  return (chunk) => {
    let rest = chunk;
    for (let end = rest.indexOf(0x0a); end !== -1; end = rest.indexOf(0x0a)) {
      if (heldBytes + end > maxBytes) return false;
      const line = Buffer.concat([...held, rest.subarray(0, end)]).toString('utf8');
      held = [];
      heldBytes = 0;
      rest = rest.subarray(end + 1);
      onLine(line);
    }
    held.push(rest);
    heldBytes += rest.length;
    return heldBytes <= maxBytes;
  };
}
