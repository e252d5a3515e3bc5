import type { RoleName, RunId, TaskId } from '../domain/ids.ts';
import type { Attribution } from '../domain/violation.ts';
import type { SandboxMode } from '../sandbox/sandbox.ts';
import type { WatchedTree } from './watch.ts';

/** A step whose processes were alive while the change was made. */
export interface RunningStep {
  readonly run: RunId;
  readonly task: TaskId;
  readonly role: RoleName;
}

/**
 * Who made a change in a tree. A name is given only when nobody else could have written there; two possible writers are
 * `ambiguous`, none that we know of is `unknown`.
 */
export function attribute(change: {
  readonly tree: WatchedTree;
  readonly running: readonly RunningStep[];
  readonly sandboxMode: SandboxMode;
}): { readonly attribution: Attribution; readonly evidence: string } {
  const { tree, running, sandboxMode } = change;
  const confined = sandboxMode !== 'detect-only';
  switch (tree.kind) {
    case 'checkout':
      return attributeInCheckout(running, confined);
    case 'workspace':
      return attributeInWorkspace(tree, running, confined);
  }
}

function attributeInCheckout(running: readonly RunningStep[], confined: boolean) {
  if (confined)
    return { attribution: 'human', evidence: 'the checkout is hidden from every agent by the sandbox' } as const;
  if (running.length === 0) return { attribution: 'human', evidence: 'no agent was running' } as const;
  return { attribution: 'ambiguous', evidence: `no sandbox, and ${namesOf(running)} ran beside you` } as const;
}

function attributeInWorkspace(tree: WatchedTree, running: readonly RunningStep[], confined: boolean) {
  const own = running.filter((step) => step.run === tree.run && step.task === tree.task && step.role === tree.role);
  const others = running.filter((step) => !own.includes(step));
  if (own.length > 0 && (confined || others.length === 0)) {
    const reason = confined ? 'hidden from all others by the sandbox' : 'no other agent was running';
    return { attribution: 'role', evidence: `private tree of ${namesOf(own)}, ${reason}` } as const;
  }
  if (own.length > 0)
    return { attribution: 'ambiguous', evidence: `no sandbox, and ${namesOf(others)} ran as well` } as const;
  if (confined || others.length === 0) {
    return { attribution: 'unknown', evidence: 'private tree, but its step was not running' } as const;
  }
  return {
    attribution: 'unknown',
    evidence: `its step was not running; ${namesOf(others)} could have written here`,
  } as const;
}

function namesOf(steps: readonly RunningStep[]): string {
  return steps.map((step) => `${step.task}/${step.role}`).join(', ');
}
