import type { Problem } from './policy.ts';

export interface EnvFile {
  readonly variables: ReadonlyMap<string, string>;
  readonly warnings: readonly Problem[];
  readonly problems: readonly Problem[];
}

/**
 * Reads `.env` text: KEY=VALUE lines, an optional `export `, comment lines, paired quotes. No shell is involved and
 * nothing is expanded. A later line wins. Messages name the variable, never its value.
 */
export function parseEnvFile(text: string, fileName: string): EnvFile {
  const variables = new Map<string, string>();
  const found: Problem[] = [];
  text
    .replace(/^\uFEFF/u, '')
    .split('\n')
    .forEach((line, index) => {
      const at = { file: fileName, line: index + 1 };
      const entry = parseLine(line);
      if (entry === undefined) return;
      if (typeof entry === 'string') found.push({ ...at, severity: 'error', column: 1, message: entry });
      else readValue(entry, { at, variables, found });
    });
  return {
    variables,
    warnings: found.filter((problem) => problem.severity === 'warning'),
    problems: found.filter((problem) => problem.severity === 'error'),
  };
}

/** Last four characters of a key, `****` when it is too short to show any. */
export function keyTail(key: string): string {
  return key.length <= 4 ? '****' : key.slice(-4);
}

interface Entry {
  readonly name: string;
  readonly value: string;
  readonly column: number;
}

function parseLine(line: string): Entry | string | undefined {
  if (/^\s*(#.*)?$/su.test(line)) return undefined;
  const match = /^(\s*(?:export\s+)?([^=\s]*)\s*=)(.*)$/su.exec(line);
  if (match === null) return 'is not of the form KEY=VALUE';
  const [, head = '', name = '', value = ''] = match;
  if (!/^[A-Za-z_][A-Za-z0-9_]*$/u.test(name)) return 'has a name before `=` that is not letters, digits and `_`';
  return { name, value, column: head.length + 1 };
}

function readValue(
  entry: Entry,
  out: {
    readonly at: { file: string; line: number };
    readonly variables: Map<string, string>;
    readonly found: Problem[];
  },
): void {
  const report = (severity: Problem['severity'], message: string): void => {
    out.found.push({ severity, ...out.at, column: entry.column, message: `${entry.name} ${message}` });
  };
  const withoutReturn = entry.value.replace(/\r+$/u, '');
  if (withoutReturn !== entry.value)
    report('warning', 'ends with a carriage return, which was removed: save the file with LF');
  const trimmed = withoutReturn.trim();
  if (trimmed !== withoutReturn.trimStart()) report('warning', 'has white space after its value, which was removed');
  const value = unquote(trimmed);
  if (value === undefined) {
    report('warning', 'has a quote at one end only, which was kept as part of the value');
  }
  const final = value ?? trimmed;
  if (/[\p{Cc}\u2028\u2029]/u.test(final)) {
    report('error', 'holds a control character inside its value: paste it again');
    return;
  }
  if (out.variables.has(entry.name)) report('warning', 'is given twice; the later line counts');
  out.variables.set(entry.name, final);
}

/** The text inside paired quotes, the text itself when there are none, undefined for an odd quote. */
function unquote(text: string): string | undefined {
  const first = text.charAt(0);
  const last = text.charAt(text.length - 1);
  const quoted = (char: string): boolean => char === '"' || char === "'";
  if (!quoted(first) && !quoted(last)) return text;
  return text.length >= 2 && first === last ? text.slice(1, -1) : undefined;
}
