import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { type Check, found, passed } from '../../domain/check.ts';
import type { Io } from '../io.ts';

const run = promisify(execFile);

/** The interpreter (bin/orchestrator.cjs lets no older one get here) and git. */
export async function machineChecks(io: Io): Promise<readonly Check[]> {
  return [passed('node', `${io.nodeVersion} at ${io.execPath}`), await gitCheck(io)];
}

async function gitCheck(io: Io): Promise<Check> {
  const { readGitVersion } = await import('../../git/start-check.ts');
  const remedy = 'install git 2.38 or newer';
  const text = await run('git', ['--version'], { env: { PATH: io.env['PATH'] } }).catch(() => undefined);
  if (text === undefined) {
    return found('git', { level: 'error', symptom: 'git cannot be run', cause: 'it is not in PATH', remedy });
  }
  const read = readGitVersion(text.stdout);
  if (read?.isNewEnough === true) return passed('git', `git ${read.version}`);
  const symptom = `git is ${read?.version ?? text.stdout.trim()}`;
  return found('git', { level: 'error', symptom, cause: 'merges need `git merge-tree --write-tree`', remedy });
}
