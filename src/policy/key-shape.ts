/**
 * What is wrong with the shape of a key, one clause each, empty when it could be one. No clause quotes the key: each can
 * follow "the key" in a sentence.
 */
export function keyProblems(key: string): readonly string[] {
  return RULES.filter(({ isBroken }) => isBroken(key)).map(({ clause }) => clause);
}

/** Shorter ones could not be kept out of messages either (see `redact`). */
const SHORTEST = 8;

const RULES: readonly { readonly clause: string; readonly isBroken: (key: string) => boolean }[] = [
  { clause: 'holds a control character or a line break', isBroken: (key) => /[\p{Cc}\u2028\u2029]/u.test(key) },
  { clause: 'holds white space', isBroken: (key) => /\p{Zs}/u.test(key) },
  { clause: 'holds a quote', isBroken: (key) => /["'`\u2018\u2019\u201c\u201d]/u.test(key) },
  { clause: 'holds a character that no HTTP header takes', isBroken: (key) => /[^\p{ASCII}]/u.test(key) },
  { clause: 'is a placeholder', isBroken: isPlaceholder },
  { clause: `is shorter than ${SHORTEST} characters`, isBroken: (key) => key.length < SHORTEST },
  { clause: 'begins with "Bearer", which the gateway adds itself', isBroken: (key) => /^bearer\b/iu.test(key) },
  {
    clause: 'begins with a variable name and `=`: only the value belongs there',
    isBroken: (key) => /^(export\s+)?[A-Z][A-Z0-9_]*=./u.test(key),
  },
];

function isPlaceholder(key: string): boolean {
  const bare = key.toLowerCase().replace(/^(sk|key|pk)[-_]/u, '');
  return PLACEHOLDERS.some((pattern) => pattern.test(bare));
}

const PLACEHOLDERS: readonly RegExp[] = [
  /^[<[{].*[>\]}]$/u,
  /^\$/u,
  /\.{3}|…/u,
  /^(x+|\*+|0+)$/u,
  /^(your|my|the|insert|replace|enter|put|add)[-_ ]/u,
  /change.?me|place.?holder/u,
  /^(todo|fixme|dummy|example|none|null|undefined|secret|key|api.?key|token|test)$/u,
];
