import fc from 'fast-check';
import { expect, test } from 'vitest';
import { CHECKPOINT_FAMILIES, type Checkpoint, type CheckpointKind } from '../../../src/domain/checkpoint.ts';
import { checkpointText } from '../../../src/domain/checkpoint-text.ts';
import type { CheckpointId, ObjectId, RoleName, RunId, TaskId } from '../../../src/domain/ids.ts';
import type { RepoPath } from '../../../src/domain/path.ts';

function checkpoint(changes: Partial<Checkpoint> = {}): Checkpoint {
  return {
    id: 'c-abc123' as CheckpointId,
    kind: 'merge',
    state: 'pending',
    run: 'r-1' as RunId,
    summary: 'merge two tasks',
    body: '',
    findings: [],
    binding: {
      action: 'merge',
      content: 't',
      targetCommit: 'a' as ObjectId,
      policyDigest: 'p',
      paths: [],
      nonce: 'n',
    },
    digest: '0123456789abcdef0123456789abcdef',
    payload: {},
    createdAt: 0,
    ...changes,
  };
}

function linesOf(changes: Partial<Checkpoint>): readonly string[] {
  return checkpointText(checkpoint(changes)).lines;
}

test('every kind says what approve and reject do', () => {
  for (const kind of Object.keys(CHECKPOINT_FAMILIES) as CheckpointKind[]) {
    const { effects } = checkpointText(checkpoint({ kind }));
    expect(effects.approve).not.toBe('');
    expect(effects.reject).not.toBe(effects.approve);
  }
});

test('protected paths come before ordinary ones and all of them are listed; ordinary ones are counted', () => {
  const decisions = ['never', 'generated', 'deny', 'ask', 'out'] as const;
  const guarded = Array.from({ length: 200 }, (_, index) => ({
    path: `guarded/${index}`,
    decision: decisions[index % decisions.length],
  }));
  const ordinary = Array.from({ length: 50 }, (_, index) => ({ path: `plain/${index}`, decision: 'write' }));
  const link = { path: 'plain/link', decision: 'write', special: 'absolute-symlink' };
  const lines = linesOf({ payload: { paths: [...ordinary, link, ...guarded] } });
  for (const { path } of [...guarded, link]) {
    expect(lines.filter((line) => line.startsWith('  ! ') && line.includes(path)).length).toBeGreaterThan(0);
  }
  const marks = lines.filter((line) => /^ {2}[! ] \S/.test(line) && !line.includes('more')).map((line) => line[2]);
  expect(marks.join('')).toBe('!'.repeat(201) + ' '.repeat(20));
  expect(lines).toContain('paths: 251 (201 protected)');
  expect(lines).toContain('    and 30 more inside the boundary');
});

test('paths of the binding that the payload does not describe are listed too, each once', () => {
  const binding = { ...checkpoint().binding, paths: ['a', 'b'] as RepoPath[] };
  const lines = linesOf({
    binding,
    payload: { paths: [{ path: 'a', decision: 'ask', rule: 'Doc/**', task: 'T1', role: 'coder' }, 7] },
  });
  expect(lines).toContain('  ! ask a  (rule Doc/**)  by T1/coder');
  expect(lines).toContain('    b');
  expect(lines).toContain('paths: 2 (1 protected)');
});

test('a failed verification is shown before paths and other findings', () => {
  const lines = linesOf({
    findings: [
      { kind: 'large-diff', text: '900 lines', task: 'T1' as TaskId, role: 'coder' as RoleName },
      { kind: 'verify-failed', text: '2 tests failed' },
    ],
    payload: { paths: [{ path: 'x', decision: 'deny' }] },
    body: 'first\n\tsecond',
  });
  const shown = lines.filter((line) => !line.startsWith('step:') && !line.startsWith('digest:'));
  expect(shown).toEqual([
    'finding verify-failed: 2 tests failed',
    'paths: 1 (1 protected)',
    '  ! deny x',
    'finding large-diff (T1/coder): 900 lines',
    'first',
    '\tsecond',
  ]);
});

test('no text of a checkpoint reaches the terminal unescaped, whatever field it is in', () => {
  const hostile = fc.string({ unit: 'binary' }).map((text) => `${text}\u001b]52;c;x\u0007\u202e\u200b\n`);
  fc.assert(
    fc.property(hostile, (text) => {
      const { heading, lines } = checkpointText(
        checkpoint({
          summary: text,
          body: text,
          task: text as TaskId,
          role: text as RoleName,
          findings: [{ kind: text, text, task: text as TaskId }],
          binding: { ...checkpoint().binding, paths: [text as RepoPath] },
          payload: {
            paths: [{ path: `${text}2`, decision: 'ask', rule: text, special: text, task: text, role: text }],
          },
          answer: { verdict: 'reject', reason: text, by: text },
        }),
      );
      for (const line of [heading, ...lines]) {
        expect(line.replaceAll('\t', '')).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Co}\p{Cs}]/u);
      }
    }),
  );
});
