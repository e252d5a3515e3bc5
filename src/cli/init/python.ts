import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

export interface Python {
  /** Absolute path, as the interpreter names itself: a virtual environment keeps its own. */
  readonly executable: string;
  readonly hasPytest: boolean;
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

/** The empty entry goes first, so that a pytest.py or json.py of the checkout is not what answers. */
const QUESTION = `
import sys
sys.path[:] = [entry for entry in sys.path if entry]
import importlib.util, json
print(json.dumps({"executable": sys.executable, "hasPytest": importlib.util.find_spec("pytest") is not None}))
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
