import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ObjectId } from '../../../src/domain/ids.ts';
import type { RepoPath } from '../../../src/domain/path.ts';
import { openTreeDoor, type TreeDoor } from '../../../src/git/tree-door.ts';
import { openIgnoreRules } from '../../../src/workspace/ignore-rules.ts';
import { inspectTree } from '../../../src/workspace/inspect.ts';
import { recordTree } from '../../../src/workspace/record.ts';
import { trackedIn } from '../../../src/workspace/slot.ts';
import type { Workspace } from '../../../src/workspace/workspace.ts';
import { makePool, type ScratchPool } from './scratch-pool.ts';

const SECRET = 'the key of the user\n';
const file = 'lib/a.py' as RepoPath;
const blobId = (text: string) => createHash('sha1').update(`blob ${text.length}\0${text}`).digest('hex') as ObjectId;

let made: ScratchPool;
let workspace: Workspace;

beforeEach(async () => {
  made = await makePool({ 'lib/a.py': 'a\n', 'lib/b.py': 'b\n' });
  workspace = await made.acquire();
});
afterEach(() => made.scratch.remove());

/** Records the tree with one change before git reads and another before the second reading. */
async function record(change: { before: () => void; after: () => void }): Promise<ObjectId> {
  const { store } = made;
  const { root } = workspace;
  const door = openTreeDoor({ storeDirectory: store.directory, workTree: root, index: join(root, '../index') });
  const racing: TreeDoor = {
    ...door,
    record: async (options) => {
      change.before();
      const refused = await door.record(options);
      change.after();
      return refused;
    },
  };
  const rules = await openIgnoreRules({
    store,
    base: made.start.tree,
    shadow: join(made.scratch.base, 'shadow'),
    searchPath: undefined,
  });
  const tracked = await trackedIn(store, made.start.tree);
  const inspection = await inspectTree(root, { tracked, rules, repair: false });
  return recordTree({ store, root, door: racing }, inspection);
}

describe('recording', () => {
  it('lets nothing into the store that only git has read', async () => {
    const target = join(workspace.root, file);
    const tree = await record({
      before: () => writeFileSync(target, SECRET),
      after: () => writeFileSync(target, 'harmless\n'),
    });
    await expect(made.store.readBlob(blobId(SECRET))).rejects.toThrow(/cat-file/);
    expect((await made.store.entry(tree, file))?.blob).toBe(blobId('harmless\n'));
    expect(readdirSync(join(made.store.directory, 'tmp'))).toEqual([]);
    writeFileSync(target, SECRET); // positive control: a real content does get in
    await workspace.snapshot();
    expect((await made.store.readBlob(blobId(SECRET))).toString()).toBe(SECRET);
  });

  it('drops a path that is gone at the second reading', async () => {
    const target = join(workspace.root, file);
    const tree = await record({ before: () => writeFileSync(target, 'new\n'), after: () => rmSync(target) });
    expect(await made.store.entry(tree, file)).toBeUndefined();
    writeFileSync(target, 'new\n');
    const { tree: next } = await workspace.snapshot();
    expect((await made.store.entry(next, file))?.blob).toBe(blobId('new\n'));
  });

  it('is sound again after a failure in between', async () => {
    writeFileSync(join(workspace.root, file), 'changed\n');
    const failing = record({
      before: () => undefined,
      after: () => {
        throw new Error('the disk is full');
      },
    });
    await expect(failing).rejects.toThrow('the disk is full');
    const { tree } = await workspace.snapshot();
    expect((await made.store.entry(tree, file))?.blob).toBe(blobId('changed\n'));
  });

  it('does not read through a file that flips to a link all the time', async () => {
    const secret = join(made.scratch.base, 'secret');
    writeFileSync(secret, SECRET);
    const target = join(workspace.root, file);
    const flip = `const fs = require('node:fs'); const [file, secret] = process.argv.slice(1); const end = Date.now() + 20000;
      for (let n = 0; Date.now() < end; n += 1) {
        fs.writeFileSync(file + '.x', 'x'.repeat(${SECRET.length})); fs.renameSync(file + '.x', file);
        fs.symlinkSync(secret, file + '.x'); fs.renameSync(file + '.x', file); }`;
    const racer = spawn(process.execPath, ['-e', flip, target, secret], { stdio: 'ignore' });
    try {
      for (let round = 0; round < 10; round += 1) await workspace.snapshot();
    } finally {
      const ended = new Promise((resolve) => racer.once('exit', resolve));
      racer.kill('SIGKILL');
      await ended;
    }
    await expect(made.store.readBlob(blobId(SECRET))).rejects.toThrow(/cat-file/);
    expect(readFileSync(secret, 'utf8')).toBe(SECRET);
  });
});
