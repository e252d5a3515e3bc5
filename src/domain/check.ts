/** One finding of `doctor`, as it goes to scripts. Only an `error` is not ok. */
export interface Check {
  /** What was looked at: `git`, `sandbox`, `key coder`, `model coder`. */
  readonly name: string;
  readonly ok: boolean;
  readonly level: 'ok' | 'note' | 'warning' | 'error';
  /** What was seen. */
  readonly symptom: string;
  readonly cause: string | null;
  readonly remedy: string | null;
}

export interface Finding {
  readonly level: 'note' | 'warning' | 'error';
  readonly symptom: string;
  readonly cause: string;
  readonly remedy: string;
}

export function passed(name: string, symptom: string): Check {
  return { name, ok: true, level: 'ok', symptom, cause: null, remedy: null };
}

export function noted(name: string, symptom: string, cause: string | null = null): Check {
  return { name, ok: true, level: 'note', symptom, cause, remedy: null };
}

export function found(name: string, finding: Finding): Check {
  const { level, symptom, cause, remedy } = finding;
  return { name, ok: level !== 'error', level, symptom, cause, remedy };
}
