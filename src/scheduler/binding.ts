import { createHash } from 'node:crypto';
import type { CurrentState } from '../checkpoints/checkpoints.ts';
import type { Binding } from '../domain/checkpoint.ts';
import { ZERO_OBJECT_ID } from '../domain/ids.ts';
import type { RepoPath } from '../domain/path.ts';
import type { Run } from '../domain/run.ts';
import type { Engine } from './engine.ts';

/** What every checkpoint of a run is bound to now, with the hash of the content it shows. */
export async function bindingOf(
  engine: Engine,
  run: Run,
  options: { action: string; content: string; paths: readonly RepoPath[] },
): Promise<Omit<Binding, 'nonce'>> {
  const current = await currentState(engine, run, options.content);
  return {
    action: options.action,
    content: options.content,
    paths: options.paths,
    targetCommit: current.targetCommit as Binding['targetCommit'],
    policyDigest: current.policyDigest,
  };
}

export async function currentState(engine: Engine, run: Run, content: string): Promise<CurrentState> {
  return {
    content,
    targetCommit: (await engine.user.resolve(run.manifest.target)) ?? ZERO_OBJECT_ID,
    policyDigest: engine.policies.active().digest,
  };
}

export function contentHash(...parts: readonly unknown[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex');
}
