import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

export interface Python {
  /** Absolute path, as the interpreter names itself: a virtual environment keeps its own. */
  readonly executable: string;
  readonly hasPytest: boolean;
  /** `3.11.2` */
  readonly version: string;
}

const run = promisify(execFile);

/** The first Python on PATH that runs; undefined when there is none. */
export async function findPython(
  cwd: string,
  environment: Readonly<Record<string, string | undefined>>,
): Promise<Python | undefined> {
  for (const name of ['python3', 'python']) {
    const found = await ask(name, cwd, environment);
    if (found !== undefined) return found;
  }
  return undefined;
}

/**
 * The Python that can run this CPython checkout's own library without a build: the same version, or else the same minor
 * version. Undefined when there is none; another minor version's library does not run.
 */
export async function findPythonOfVersion(
  cwd: string,
  environment: Readonly<Record<string, string | undefined>>,
  version: string,
): Promise<Python | undefined> {
  const minor = version.split('.').slice(0, 2).join('.');
  const names = ['python3', `python${minor}`];
  const candidates = [...names, ...['/usr/bin/', '/usr/local/bin/'].flatMap((at) => names.map((name) => at + name))];
  let closest: Python | undefined;
  for (const name of candidates) {
    const found = await ask(name, cwd, environment);
    if (found?.version === version) return found;
    if (found?.version.startsWith(`${minor}.`)) closest ??= found;
  }
  return closest;
}

/** The empty entry goes first, so that a pytest.py or json.py of the checkout is not what answers. */
const QUESTION = `
import sys
sys.path[:] = [entry for entry in sys.path if entry]
import importlib.util, json
print(json.dumps({"executable": sys.executable, "hasPytest": importlib.util.find_spec("pytest") is not None, "version": "%d.%d.%d" % sys.version_info[:3]}))
`;
const LONGEST_MS = 20_000;

async function ask(
  name: string,
  cwd: string,
  environment: Readonly<Record<string, string | undefined>>,
): Promise<Python | undefined> {
  try {
    const { stdout } = await run(name, ['-c', QUESTION], { cwd, env: environment, timeout: LONGEST_MS });
    return JSON.parse(stdout) as Python;
  } catch {
    return undefined;
  }
}
