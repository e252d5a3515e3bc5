import { randomUUID } from 'node:crypto';
import { lstat, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Check, found, passed } from '../../domain/check.ts';
import { messageOf } from '../../domain/errors.ts';
import type { StateDirectory } from '../../store/state-directory.ts';
import type { Io } from '../io.ts';

/** Whether the state directory is there, yours, private, and takes a file. */
export async function stateChecks(io: Io, state: StateDirectory): Promise<readonly Check[]> {
  const { directory } = state;
  const stat = await lstat(directory).catch(() => undefined);
  if (stat === undefined) return [notSetUp(directory)];
  if (!stat.isDirectory()) return [unusable(`${directory} is no directory`, 'move it away, then orchestrator init')];
  if (stat.uid !== io.uid) return [unusable(`${directory} belongs to user ${stat.uid}`, `chown it to ${io.uid}`)];
  const problem = await tryToWrite(directory);
  if (problem !== undefined) return [unusable(`${directory} takes no file (${problem})`, WRITE_REMEDY)];
  const mode = stat.mode & 0o777;
  if ((mode & 0o077) === 0) return [passed('state', `${directory}, mode 0${mode.toString(8)}, writable`)];
  return [
    found('state', {
      level: 'warning',
      symptom: `${directory} has mode 0${mode.toString(8)}`,
      cause: 'others may look into it: keys, logs and sockets are there',
      remedy: `chmod 700 ${directory} (\`start\` does it, too)`,
    }),
  ];
}

const WRITE_REMEDY = 'check its mode, the mount and the disk space, or set ORCHESTRATOR_STATE_DIR';

function notSetUp(directory: string): Check {
  return found('state', {
    level: 'error',
    symptom: `there is no ${directory}`,
    cause: 'this repository is not set up yet',
    remedy: 'orchestrator init',
  });
}

function unusable(symptom: string, remedy: string): Check {
  return found('state', { level: 'error', symptom, cause: 'the daemon keeps everything that must last there', remedy });
}

async function tryToWrite(directory: string): Promise<string | undefined> {
  const file = join(directory, `.doctor-${randomUUID()}`);
  try {
    await writeFile(file, 'written\n', { mode: 0o600, flag: 'wx' });
    return undefined;
  } catch (error) {
    return messageOf(error);
  } finally {
    await rm(file, { force: true });
  }
}
