import { OrchestratorError } from '../domain/errors.ts';
import { completionScript, type Shell } from './completion-script.ts';
import type { Io } from './io.ts';
import type { Given } from './program/verb.ts';

/** The script goes to stdout as it is; --json has no other shape for it. */
export async function completion(io: Io, given: Given): Promise<number> {
  const shell = SHELLS.find((name) => name === given.args[0]);
  if (shell === undefined)
    throw new OrchestratorError('usage', `no completion for ${given.args[0]}: ${SHELLS.join(', ')}`);
  io.stdout(completionScript(shell, given.groups));
  return 0;
}

const SHELLS: readonly Shell[] = ['bash', 'zsh', 'fish'];
