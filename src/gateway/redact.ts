/** Takes keys out of a text: the given ones exactly, and whatever looks like one. */
export function redact(text: string, secrets: readonly string[]): string {
  const known = secrets
    .filter((secret) => secret.length >= MIN_SECRET)
    .reduce((result, secret) => result.replaceAll(secret, `[key …${secret.slice(-4)}]`), text);
  return known.replace(/\b(Bearer\s+|sk-)[A-Za-z0-9._~+/=-]{16,}/g, '$1[redacted]');
}

/** Shorter ones would turn ordinary words into marks. */
const MIN_SECRET = 8;
