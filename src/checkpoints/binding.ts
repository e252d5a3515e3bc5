import { createHash } from 'node:crypto';
import type { Binding } from '../domain/checkpoint.ts';
import type { CurrentState } from './checkpoints.ts';

/** sha256 (hex) over the binding; the order of `paths` does not matter. */
export function bindingDigest(binding: Binding): string {
  const canonical = JSON.stringify([
    binding.action,
    binding.content,
    binding.targetCommit,
    binding.policyDigest,
    [...binding.paths].sort(),
    binding.nonce,
  ]);
  return createHash('sha256').update(canonical).digest('hex');
}

/** What of a binding no longer holds, in words; empty when all of it does. */
export function bindingChanges(binding: Binding, current: CurrentState): readonly string[] {
  const changes: string[] = [];
  if (binding.content !== current.content) {
    changes.push(`the content changed from ${short(binding.content)} to ${short(current.content)}`);
  }
  if (binding.targetCommit !== current.targetCommit) {
    changes.push(`the target moved from ${short(binding.targetCommit)} to ${short(current.targetCommit)}`);
  }
  if (binding.policyDigest !== current.policyDigest) {
    changes.push(`the policy changed from ${short(binding.policyDigest)} to ${short(current.policyDigest)}`);
  }
  return changes;
}

function short(id: string): string {
  return id.slice(0, 12);
}
