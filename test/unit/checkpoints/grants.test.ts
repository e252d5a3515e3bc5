import { expect, test } from 'vitest';
import { contentKey, type GrantRecord, grantWrites, readGrants } from '../../../src/checkpoints/grants.ts';
import type { CheckpointId, RoleName, RunId, TaskId } from '../../../src/domain/ids.ts';
import { pathFromBytes, type RepoPath } from '../../../src/domain/path.ts';
import { openTemporaryStore } from './temporary-store.ts';

const RUN = 'r-1' as RunId;
const OTHER_RUN = 'r-2' as RunId;
const grant = { task: 'T1' as TaskId, role: 'coder' as RoleName, kind: 'access', blob: '' } as const;

test('grants read back byte for byte: bytes that are no UTF-8, quotes, newlines, forms that look alike', async () => {
  const { store } = await openTemporaryStore();
  const names = ['plain', '"quoted"', 'new\nline', 'e\u0301', '\u00e9'].map((name) => Buffer.from(name));
  const paths = [...names, Buffer.from([0xff]), Buffer.from([0xfe])].map(pathFromBytes);
  const grants: GrantRecord[] = paths.map((path) => ({ ...grant, path }));
  await store.write(grantWrites({ run: RUN, checkpoint: 'c-1' as CheckpointId, at: 1, grants }));
  expect(readGrants(store, RUN)).toEqual(grants);
  expect(readGrants(store, OTHER_RUN)).toEqual([]);
});

test('the same grant twice is one; another kind or content is another', async () => {
  const { store } = await openTemporaryStore();
  const path = 'Modules/x.c' as RepoPath;
  const grants: GrantRecord[] = [
    { ...grant, path },
    { ...grant, path, kind: 'content', blob: '' },
    { ...grant, path, kind: 'content', blob: 'f'.repeat(40) },
  ];
  for (const checkpoint of ['c-1', 'c-2'] as CheckpointId[]) {
    expect(await store.write(grantWrites({ run: RUN, checkpoint, at: 1, grants }))).toMatchObject({ committed: true });
  }
  expect(readGrants(store, RUN)).toEqual(grants);
});

test('a content key tells a file from a program, a link, a gitlink and a deletion with the same id', () => {
  const newBlob = 'f'.repeat(40);
  const keys = ['100644', '100755', '120000', '160000'].map((newMode) =>
    contentKey({ operation: 'modify', newMode, newBlob }),
  );
  keys.push(contentKey({ operation: 'delete', newMode: '000000', newBlob: '0'.repeat(40) }));
  expect(new Set(keys).size).toBe(5);
  expect(keys[0]).toBe(newBlob);
  expect(keys[4]).toBe('');
});
