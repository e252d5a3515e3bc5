import type { ReadScalar, YamlPath } from './yaml-source.ts';

/**
 * Replaces `${UPPER}` and `${UPPER:-default}` by values of `.env`. `key:` is a reference of its own and stays as it is.
 * A model id and the base URL may be missing until `start`; they become undefined.
 */
export function valueReader(variables: ReadonlyMap<string, string>): ReadScalar {
  return (text, path) => {
    if (path.length === 1 && path[0] === 'key') return { value: text };
    const references = [...text.matchAll(REFERENCE)];
    if (references.length === 0) return { value: text };
    let missing = false;
    for (const [, name = '', fallback] of references) {
      if (SECRET_NAME.test(name)) return { problem: secretProblem(name) };
      if (lookUp(variables, name) !== undefined || fallback !== undefined) continue;
      if (!mayWaitForStart(path)) return { problem: missingProblem(name) };
      missing = true;
    }
    if (missing) return { value: undefined };
    const expanded = text.replaceAll(
      REFERENCE,
      (_, name: string, fallback?: string) => lookUp(variables, name) ?? fallback ?? '',
    );
    const whole = references.length === 1 && references[0]?.[0] === text;
    return { value: whole && !mayWaitForStart(path) ? plainScalar(expanded) : expanded };
  };
}

/** Text from outside YAML as the scalar that YAML would have read. */
export function plainScalar(text: string): unknown {
  if (/^-?\d+(\.\d+)?(e\d+)?$/iu.test(text)) return Number(text);
  if (text === 'true' || text === 'false') return text === 'true';
  return text === 'null' ? null : text;
}

const REFERENCE = /\$\{([A-Z][A-Z0-9_]*)(?::-([^}]*))?\}/g;
const SECRET_NAME = /(^|_)(KEY|TOKEN|SECRET|PASSWORD)(_|$)/u;

/** An empty value counts as none, as `:-` does in a shell. */
function lookUp(variables: ReadonlyMap<string, string>, name: string): string | undefined {
  const value = variables.get(name);
  return value === '' ? undefined : value;
}

function mayWaitForStart(path: YamlPath): boolean {
  const name = path.join('.');
  return name === 'gateway.base_url' || name === 'model.id';
}

function missingProblem(name: string): string {
  return `\${${name}} has no value: set ${name} in .env or write \${${name}:-default}`;
}

function secretProblem(name: string): string {
  return `\${${name}} looks like a secret, which must not become part of a policy: name it in \`key: env:${name}\``;
}
