/** One server-sent event: its exact bytes, and what they say. */
export interface SseEvent {
  /** The bytes as they came, blank line included. */
  readonly raw: Buffer;
  readonly event: string | undefined;
  /** All `data` lines, joined; undefined for comments and keep-alives. */
  readonly data: string | undefined;
}

/** Cuts a byte stream into events wherever the chunks were cut; the raw bytes put together are the stream. */
export interface SseSplitter {
  push(chunk: Uint8Array): SseEvent[];
  /** What is left at the end of the stream, as an event without its blank line. */
  end(): SseEvent | undefined;
}

export function createSseSplitter(): SseSplitter {
  let pending: Buffer[] = [];
  // Of the line being read: its length so far, and whether it is a lone carriage return.
  let lineLength = 0;
  let startsWithReturn = false;

  function take(): SseEvent {
    const raw = Buffer.concat(pending);
    pending = [];
    return parseEvent(raw);
  }

  return {
    push(chunk) {
      const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
      const events: SseEvent[] = [];
      let eventStart = 0;
      let lineStart = 0;
      while (lineStart < bytes.length) {
        const newline = bytes.indexOf(NEWLINE, lineStart);
        const lineEnd = newline === -1 ? bytes.length : newline;
        if (lineLength === 0 && lineEnd > lineStart) startsWithReturn = bytes[lineStart] === RETURN;
        lineLength += lineEnd - lineStart;
        if (newline === -1) break;
        const isBlank = lineLength === 0 || (lineLength === 1 && startsWithReturn);
        lineStart = newline + 1;
        lineLength = 0;
        if (!isBlank) continue;
        pending.push(bytes.subarray(eventStart, lineStart));
        events.push(take());
        eventStart = lineStart;
      }
      if (eventStart < bytes.length) pending.push(bytes.subarray(eventStart));
      return events;
    },
    end: () => (pending.length === 0 ? undefined : take()),
  };
}

const NEWLINE = 0x0a;
const RETURN = 0x0d;

function parseEvent(raw: Buffer): SseEvent {
  let event: string | undefined;
  const data: string[] = [];
  for (const line of raw.toString('utf8').split(/\r\n|\n|\r/)) {
    const colon = line.indexOf(':');
    if (colon <= 0) continue;
    const field = line.slice(0, colon);
    const value = line.slice(line[colon + 1] === ' ' ? colon + 2 : colon + 1);
    if (field === 'data') data.push(value);
    else if (field === 'event') event = value;
  }
  return { raw, event, data: data.length === 0 ? undefined : data.join('\n') };
}
