/** Collects output of any size and keeps its head and its tail. */
export interface Collector {
  add(chunk: Buffer): void;
  /** What was kept, with a note in the place of what was not. */
  text(): string;
}

export function collectHeadAndTail(limitBytes: number): Collector {
  const half = Math.floor(limitBytes / 2);
  let head = Buffer.alloc(0);
  let tail = Buffer.alloc(0);
  let total = 0;
  return {
    add: (chunk) => {
      total += chunk.length;
      const free = half - head.length;
      if (free > 0) head = Buffer.concat([head, chunk.subarray(0, free)]);
      const rest = free > 0 ? chunk.subarray(free) : chunk;
      if (rest.length > 0) tail = Buffer.concat([tail, rest]).subarray(-half);
    },
    text: () => {
      const left = total - head.length - tail.length;
      if (left === 0) return Buffer.concat([head, tail]).toString('utf8');
      return `${head.toString('utf8')}\n[… ${left} bytes left out of ${total} …]\n${tail.toString('utf8')}`;
    },
  };
}

/** As many whole lines as fit, and how many did not. */
export function cutLines(
  lines: readonly string[],
  limits: { bytes: number; lines: number },
): { kept: string[]; left: number } {
  const kept: string[] = [];
  let bytes = 0;
  for (const line of lines) {
    bytes += Buffer.byteLength(line) + 1;
    if (kept.length >= limits.lines || (bytes > limits.bytes && kept.length > 0)) break;
    kept.push(line);
  }
  return { kept, left: lines.length - kept.length };
}
