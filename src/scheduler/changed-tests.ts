/**
 * The CPython test modules that changed paths call for: a changed test itself, and for `Lib/x.py` or `Lib/x/…` its
 * `test_x` when there is one (the devguide's naming). Empty when none is found; other profiles run their whole suite.
 */
export function changedTests(changed: readonly string[], present: ReadonlySet<string>): readonly string[] {
  const modules = new Set<string>();
  for (const path of changed) {
    const own = /^Lib\/test\/(test_\w+)(\.py$|\/)/.exec(path)?.[1];
    const name = own ?? testNameOf(path);
    if (name !== undefined && exists(name, present)) modules.add(`test.${name}`);
  }
  return [...modules].sort();
}

function testNameOf(path: string): string | undefined {
  const module = /^Lib\/(\w+)(\.py$|\/)/.exec(path)?.[1];
  return module === undefined || module === 'test' ? undefined : `test_${module}`;
}

function exists(name: string, present: ReadonlySet<string>): boolean {
  return present.has(`Lib/test/${name}.py`) || present.has(`Lib/test/${name}/__init__.py`);
}
