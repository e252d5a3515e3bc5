/** A whole number of tokens as a person writes it: `200000`, `200k`, `1.5M`, `2e5`. Undefined for anything else. */
export function parseTokenCount(text: string): number | undefined {
  const match = /^(\d+(?:\.\d+)?(?:e\d{1,2})?)([kM]?)$/.exec(text.trim());
  if (match === null) return undefined;
  const tokens = Math.round(Number(match[1]) * FACTORS[match[2] === 'k' ? 'k' : match[2] === 'M' ? 'M' : 'one']);
  return Number.isSafeInteger(tokens) ? tokens : undefined;
}

const FACTORS = { one: 1, k: 1_000, M: 1_000_000 } as const;
