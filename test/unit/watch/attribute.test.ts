import { describe, expect, it } from 'vitest';
import type { RoleName, RunId, TaskId } from '../../../src/domain/ids.ts';
import { attribute, type RunningStep } from '../../../src/watch/attribute.ts';
import type { WatchedTree } from '../../../src/watch/watch.ts';

const step = (task: string, role: string): RunningStep => ({
  run: 'r-1' as RunId,
  task: task as TaskId,
  role: role as RoleName,
});
const coder = step('T1', 'coder');
const rival = step('T2', 'coder');
const own: WatchedTree = { root: '/slot', kind: 'workspace', ...coder };
const checkout: WatchedTree = { root: '/checkout', kind: 'checkout' };

describe('attribution', () => {
  it.each([
    ['its own tree behind the sandbox', own, [coder, rival], 'bwrap', 'role'],
    ['its own tree, nobody else running', own, [coder], 'detect-only', 'role'],
    ['its own tree, another agent of the same user running', own, [coder, rival], 'detect-only', 'ambiguous'],
    ['a tree whose step does not run', own, [], 'bwrap', 'unknown'],
    ['a tree whose step does not run, others do', own, [rival], 'detect-only', 'unknown'],
    ['the checkout behind the sandbox', checkout, [coder], 'landlock', 'human'],
    ['the checkout, no agent running', checkout, [], 'detect-only', 'human'],
    ['the checkout, an agent running', checkout, [coder], 'detect-only', 'ambiguous'],
  ] as const)('%s', (_name, tree, running, sandboxMode, expected) => {
    const answer = attribute({ tree, running, sandboxMode });
    expect(answer.attribution).toBe(expected);
    expect(answer.evidence).not.toBe('');
  });

  it('never names a role while another writer is possible', () => {
    for (const running of [[], [coder], [rival], [coder, rival]]) {
      const answer = attribute({ tree: own, running, sandboxMode: 'detect-only' });
      if (answer.attribution === 'role') expect(running).toEqual([coder]);
    }
  });

  it('says who else ran', () => {
    expect(attribute({ tree: own, running: [coder, rival], sandboxMode: 'detect-only' }).evidence).toContain(
      'T2/coder',
    );
  });
});
