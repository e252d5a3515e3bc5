/** Dollars as a person writes them: `2`, `2.50`, `$2.50`. Undefined for anything else. */
export function parseDollars(text: string): number | undefined {
  const match = /^\$?(\d{1,6}(?:\.\d{1,6})?)$/.exec(text.trim());
  return match === null ? undefined : Number(match[1]);
}
