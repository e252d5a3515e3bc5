/** One key press, as the reducer knows it. */
export type Key =
  | { readonly kind: 'character'; readonly text: string }
  | { readonly kind: 'enter' }
  | { readonly kind: 'backspace' }
  | { readonly kind: 'escape' }
  | { readonly kind: 'interrupt' };

/** The keys in a chunk of raw terminal input. Arrow and function keys have no meaning here and are dropped. */
export function decodeKeys(chunk: string): readonly Key[] {
  const keys: Key[] = [];
  for (const char of chunk.replace(SEQUENCES, '')) {
    const key = decodeKey(char);
    if (key !== undefined) keys.push(key);
  }
  return keys;
}

const SEQUENCES = /\x1b(?:\[[0-9;?]*[ -/]*[@-~]|O.)/g;

function decodeKey(char: string): Key | undefined {
  if (char === '\r' || char === '\n') return { kind: 'enter' };
  if (char === '\x7f' || char === '\b') return { kind: 'backspace' };
  if (char === '\x1b') return { kind: 'escape' };
  // Ctrl-C and Ctrl-D: a raw terminal sends no signal.
  if (char === '\x03' || char === '\x04') return { kind: 'interrupt' };
  return char < ' ' ? undefined : { kind: 'character', text: char };
}
