import { describe, expect, it } from 'vitest';
import type { ObjectId } from '../../../src/domain/ids.ts';
import { pathFromBytes } from '../../../src/domain/path.ts';
import { lineCounts, rawDifference } from '../../../src/git/differences.ts';
import { configuredAuthor } from '../../../src/git/identity.ts';
import { mergeCommits } from '../../../src/git/merge.ts';
import { packedObjectCount } from '../../../src/git/transfer.ts';
import { isArgument } from '../../../src/git/trees.ts';
import { userEnvironment } from '../../../src/git/user-environment.ts';

const id = 'a'.repeat(40) as ObjectId;
const answer = (stdout: string, exitCode = 0) => ({ exitCode, stdout: Buffer.from(stdout, 'latin1'), stderr: '' });

describe('answers of git', () => {
  it('raw differences: type changes are modifications, names stay bytes', () => {
    const text = `:100644 120000 ${id} ${id} T\0a\nb\0:000000 100644 ${id} ${id} A\0\xff\0`;
    expect(rawDifference(id, id).parse(answer(text))).toEqual([
      { path: 'a\nb', operation: 'modify', oldMode: '100644', newMode: '120000', oldBlob: id, newBlob: id },
      {
        path: pathFromBytes(Buffer.from([0xff])),
        operation: 'create',
        oldMode: '000000',
        newMode: '100644',
        oldBlob: id,
        newBlob: id,
      },
    ]);
  });

  it('line counts: binary is zero, a tab in a name stays', () => {
    expect(lineCounts(id, id).parse(answer('3\t1\ta\tb\0-\t-\tbin\0'))).toEqual([
      { path: 'a\tb', added: 3, deleted: 1 },
      { path: 'bin', added: 0, deleted: 0 },
    ]);
  });

  it('merges: a tree, or each path once', () => {
    expect(mergeCommits(id, id).parse(answer(`${id}\0`))).toEqual({ clean: true, tree: id });
    expect(mergeCommits(id, id).parse(answer(`${id}\0x\0x\0`, 1))).toEqual({ clean: false, paths: ['x'] });
  });

  it('identity: none when git refuses', () => {
    expect(configuredAuthor().parse(answer('A B <a@b> 1 +0000\n'))).toEqual({ name: 'A B', email: 'a@b' });
    expect(configuredAuthor().parse(answer('', 128))).toBeUndefined();
  });

  it('packs: the object count of the header', () => {
    expect(packedObjectCount(Buffer.from('PACK\0\0\0\x02\0\0\0\x05'))).toBe(5);
    expect(packedObjectCount(Buffer.alloc(0))).toBe(0);
  });
});

it('only paths that survive as an argument are arguments', () => {
  expect(isArgument(pathFromBytes(Buffer.from('ü\n')))).toBe(true);
  expect(isArgument(pathFromBytes(Buffer.from([0x61, 0xff])))).toBe(false);
});

it('the environment of the user is reduced to what finds configuration and identity', () => {
  const reduced = userEnvironment({
    HOME: '/h',
    GIT_DIR: '/x',
    GIT_AUTHOR_NAME: 'A',
    EDITOR: 'vi',
    GIT_CONFIG_KEY_0: 'k',
  });
  expect(reduced).toEqual({
    HOME: '/h',
    GIT_AUTHOR_NAME: 'A',
    GIT_CONFIG_KEY_0: 'k',
    LC_ALL: 'C',
    GIT_OPTIONAL_LOCKS: '0',
    GIT_TERMINAL_PROMPT: '0',
  });
});
