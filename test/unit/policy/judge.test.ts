import { describe, expect, test } from 'vitest';
import type { Change } from '../../../src/domain/decision.ts';
import type { RoleName } from '../../../src/domain/ids.ts';
import type { RepoPath } from '../../../src/domain/path.ts';
import { compileDecider } from '../../../src/policy/decide.ts';
import { judgeChanges } from '../../../src/policy/judge.ts';
import { shippedProfile } from '../../../src/policy/shipped-profile.ts';

const decider = compileDecider(shippedProfile('python-src', { code: ['src'], other: ['docs'] }), new Set());

function change(path: string, modes: readonly [string, string], blobs: readonly [string, string] = ['1', '2']): Change {
  const operation = modes[0] === '000000' ? 'create' : modes[1] === '000000' ? 'delete' : 'modify';
  return {
    path: path as RepoPath,
    operation,
    oldMode: modes[0],
    newMode: modes[1],
    oldBlob: blobs[0],
    newBlob: blobs[1],
  };
}

async function judge(one: Change, target = '') {
  const judged = await judgeChanges({ changes: [one], role: 'coder' as RoleName, decider, linkTarget: () => target });
  return judged[0];
}

describe('judgeChanges', () => {
  test('an ordinary change has the decision of its path', async () => {
    expect(await judge(change('src/a.py', ['100644', '100755']))).toMatchObject({ decision: 'write', rule: 'src/**' });
    expect(await judge(change('tests/a.py', ['100644', '000000']))).toMatchObject({ decision: 'deny' });
    expect(await judge(change('docs/a.rst', ['000000', '100644']))).toMatchObject({
      decision: 'ask',
      askClass: 'text',
    });
  });

  test.each([
    ['src/link', 'a.py', 'write'],
    ['src/link', '../src/pkg', 'write'],
    ['src/link', '../tests/a.py', 'deny'],
    ['src/link', '../.env', 'never'],
    ['src/link', '../docs/conf.py', 'ask'],
    ['tests/link', '../src/a.py', 'deny'],
    ['src/link', '..', 'out'],
    ['src/link', 'dir/', 'write'],
  ])('a symlink %s -> %s is %s: the stricter of both paths', async (path, target, expected) => {
    const judged = await judge(change(path, ['000000', '120000']), target);
    expect(judged?.decision).toBe(expected);
    expect(judged?.special).toBeUndefined();
  });

  test('the stricter ask is the hard one', async () => {
    expect(await judge(change('docs/a.md', ['000000', '120000']), '../setup.py')).toMatchObject({ askClass: 'hard' });
    expect(await judge(change('docs/a.md', ['000000', '120000']), 'b.md')).toMatchObject({ askClass: 'text' });
  });

  test.each([
    ['/etc/passwd', 'absolute-symlink'],
    ['C:\\x', 'absolute-symlink'],
    ['../../x', 'escaping-symlink'],
    ['../src/../../x', 'escaping-symlink'],
    ['name/../x', 'escaping-symlink'],
    ['', 'escaping-symlink'],
    ['a\\b', 'escaping-symlink'],
  ])('a symlink to %j is a violation by itself', async (target, special) => {
    expect(await judge(change('src/link', ['000000', '120000']), target)).toMatchObject({ decision: 'deny', special });
  });

  test('a removed symlink is judged by its path alone', async () => {
    expect(await judge(change('src/link', ['120000', '000000']), '/etc')).toMatchObject({ decision: 'write' });
    expect(await judge(change('src/link', ['120000', '100644']), '/etc')).toMatchObject({ decision: 'write' });
  });

  test('gitlinks and unknown modes are violations, an unchanged gitlink is not', async () => {
    expect(await judge(change('src/sub', ['000000', '160000']))).toMatchObject({
      decision: 'deny',
      special: 'gitlink',
    });
    expect(await judge(change('src/sub', ['160000', '000000']))).toMatchObject({
      decision: 'deny',
      special: 'gitlink',
    });
    expect((await judge(change('src/sub', ['160000', '160000'], ['1', '1'])))?.special).toBeUndefined();
    expect(await judge(change('src/a', ['100644', '100664']))).toMatchObject({ decision: 'deny', special: 'bad-mode' });
    expect(await judge(change('src/a', ['100664', '100644']))).toMatchObject({ decision: 'write' });
  });

  test('never stays never when the mode is wrong too', async () => {
    expect(await judge(change('.env', ['000000', '160000']))).toMatchObject({ decision: 'never', special: 'gitlink' });
  });
});
