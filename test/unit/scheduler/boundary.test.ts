import { describe, expect, it } from 'vitest';
import type { RepoPath } from '../../../src/domain/path.ts';
import type { Grant } from '../../../src/gate/gate.ts';
import type { JudgedChange } from '../../../src/policy/policy.ts';
import { sortChanges } from '../../../src/scheduler/boundary.ts';
import { role, task } from './fixtures.ts';

function change(path: string, given: Partial<JudgedChange> = {}): JudgedChange {
  return {
    path: path as RepoPath,
    operation: 'modify',
    oldMode: '100644',
    newMode: '100644',
    oldBlob: 'a'.repeat(40),
    newBlob: 'b'.repeat(40),
    decision: 'write',
    rule: undefined,
    origin: undefined,
    askClass: undefined,
    ...given,
  };
}

function grant(path: string, given: Partial<Grant> = {}): Grant {
  return { task: task('T1').id, role: role('coder'), path: path as RepoPath, kind: 'access', blob: '', ...given };
}

function sortOne(judged: JudgedChange, grants: readonly Grant[] = [], notesTracked = false): string {
  const sorted = sortChanges([judged], { grants, notesTracked });
  return (
    (['allowed', 'asks', 'violations', 'notes', 'halves'] as const).find((name) => sorted[name].length === 1) ?? 'lost'
  );
}

describe('sortChanges', () => {
  it.each([
    ['write', undefined, 'allowed'],
    ['ask', 'text', 'allowed'],
    ['ask', 'hard', 'asks'],
    ['deny', undefined, 'violations'],
    ['out', undefined, 'violations'],
    ['generated', undefined, 'violations'],
    ['never', undefined, 'violations'],
  ] as const)('%s (%s) is %s', (decision, askClass, where) => {
    expect(sortOne(change('src/a.py', { decision, askClass }))).toBe(where);
  });

  it('lets an access grant cover ask, deny and out for its path, but never what nobody may write', () => {
    for (const decision of ['ask', 'deny', 'out'] as const) {
      const judged = change('x', { decision, askClass: decision === 'ask' ? 'hard' : undefined });
      expect(sortOne(judged, [grant('x')])).toBe('allowed');
      expect(sortOne(judged, [grant('y')])).not.toBe('allowed');
    }
    for (const decision of ['never', 'generated'] as const) {
      expect(sortOne(change('x', { decision }), [grant('x')])).toBe('violations');
    }
  });

  it('lets a content grant cover exactly that content', () => {
    const judged = change('x', { decision: 'deny' });
    expect(sortOne(judged, [grant('x', { kind: 'content', blob: judged.newBlob })])).toBe('allowed');
    expect(sortOne(judged, [grant('x', { kind: 'content', blob: 'c'.repeat(40) })])).toBe('violations');
    expect(sortOne({ ...judged, newMode: '100755' }, [grant('x', { kind: 'content', blob: judged.newBlob })])).toBe(
      'violations',
    );
  });

  it('keeps what is special out whatever the globs say', () => {
    expect(sortOne(change('src/link', { special: 'escaping-symlink' }), [grant('src/link')])).toBe('violations');
  });

  it('undoes both halves of a rename when one is not allowed', () => {
    const gone = change('src/a.py', { operation: 'delete', oldBlob: 'a'.repeat(40), newBlob: '' });
    const arrived = change('other/a.py', {
      operation: 'create',
      oldBlob: '',
      newBlob: 'a'.repeat(40),
      decision: 'out',
    });
    const sorted = sortChanges([gone, arrived], { grants: [], notesTracked: false });
    expect(sorted.violations).toEqual([arrived]);
    expect(sorted.halves).toEqual([gone]);
    expect(sorted.allowed).toEqual([]);
    const inside = sortChanges([gone, { ...arrived, decision: 'write' }], { grants: [], notesTracked: false });
    expect(inside.allowed).toHaveLength(2);
    const copied = sortChanges(
      [
        change('tests/a.py', { operation: 'delete', oldBlob: 'c'.repeat(40), newBlob: '', decision: 'deny' }),
        change('src/a.py', { operation: 'create', oldBlob: '', newBlob: 'c'.repeat(40) }),
      ],
      { grants: [], notesTracked: false },
    );
    expect(copied.halves.map((half) => half.path)).toEqual(['src/a.py']);
  });

  it('moves notes unless the base tracks them', () => {
    expect(sortOne(change('agent-notes/coder.md'))).toBe('notes');
    expect(sortOne(change('agent-notes/coder.md'), [], true)).toBe('allowed');
    expect(sortOne(change('agent-notes/test.md', { decision: 'out' }))).toBe('violations');
  });
});
