/** `3 s ago`, `5 min ago`, `2 h ago`, `4 days ago`. */
export function ageText(at: number, now: number): string {
  const seconds = Math.max(0, Math.round((now - at) / 1000));
  if (seconds < 60) return `${seconds} s ago`;
  if (seconds < 3600) return `${Math.round(seconds / 60)} min ago`;
  if (seconds < 2 * 86_400) return `${Math.round(seconds / 3600)} h ago`;
  return `${Math.round(seconds / 86_400)} days ago`;
}

/** `950`, `12.3k`, `1.2M`: three figures are enough for a glance; JSON has the exact number. */
export function tokensText(tokens: number): string {
  if (tokens < 1000) return String(Math.round(tokens));
  if (tokens < 999_500) return `${trimZero((tokens / 1000).toPrecision(3))}k`;
  return `${trimZero((tokens / 1_000_000).toPrecision(3))}M`;
}

export function bytesText(bytes: number): string {
  if (bytes < 1024) return `${bytes} B`;
  const units = ['KiB', 'MiB', 'GiB', 'TiB'];
  let value = bytes / 1024;
  let unit = 0;
  while (value >= 1024 && unit < units.length - 1) {
    value /= 1024;
    unit += 1;
  }
  return `${value.toFixed(value < 10 ? 1 : 0)} ${units[unit]}`;
}

/** Unknown is `?`, never 0. */
export function usdText(usd: number | null): string {
  return usd === null ? '?' : `$${usd.toFixed(usd < 1 ? 4 : 2)}`;
}

function trimZero(figure: string): string {
  return figure.includes('.') && !figure.includes('e') ? figure.replace(/\.?0+$/, '') : String(Number(figure));
}
