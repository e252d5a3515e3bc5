import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { startWatcher } from '../../../src/watch/start-watcher.ts';
import type { WatchedTree, Watcher } from '../../../src/watch/watch.ts';

let base: string;
let root: string;
let watcher: Watcher;
let changed: Set<string>;
let reconciles: number;
let degraded: string[];
let tree: WatchedTree;

beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), 'orch-b-watch-')));
  root = join(base, 'tree');
  mkdirSync(join(root, 'lib'), { recursive: true });
  mkdirSync(join(root, '.git'));
  tree = { root, kind: 'workspace' };
  changed = new Set();
  reconciles = 0;
  degraded = [];
});
afterEach(async () => {
  await watcher.stop();
  rmSync(base, { recursive: true, force: true });
});

function start(reconcileMs = 60_000): Watcher {
  watcher = startWatcher({
    clock: { now: () => 42 },
    debounceMs: 20,
    reconcileMs,
    listener: {
      onChange: (_tree, paths) => {
        for (const path of paths) changed.add(path);
      },
      onReconcile: () => {
        reconciles += 1;
      },
      onDegraded: (reason) => degraded.push(reason),
    },
  });
  return watcher;
}

async function until(holds: () => boolean, timeoutMs = 5_000): Promise<void> {
  const end = Date.now() + timeoutMs;
  while (!holds() && Date.now() < end) await new Promise((resolve) => setTimeout(resolve, 10));
  expect(holds()).toBe(true);
}

describe('a watcher', () => {
  it('names changed paths, then asks for a reconcile', async () => {
    await start().add(tree);
    expect(watcher).toMatchObject({ mode: 'events', trees: 1, lastEventAt: undefined });
    writeFileSync(join(root, 'lib/a.py'), 'x');
    mkdirSync(join(root, 'new/deep'), { recursive: true });
    writeFileSync(join(root, 'new/deep/b.py'), 'x');
    await until(() => changed.has('lib/a.py') && changed.has('new/deep/b.py'));
    await until(() => reconciles > 0);
    writeFileSync(join(root, 'tmp'), 'y');
    renameSync(join(root, 'tmp'), join(root, 'lib/c.py'));
    await until(() => changed.has('lib/c.py'));
    expect(watcher.lastEventAt).toBe(42);
  });

  it('leaves .git alone and does not follow links', async () => {
    mkdirSync(join(base, 'outside'));
    symlinkSync(join(base, 'outside'), join(root, 'lib/link'));
    await start().add(tree);
    writeFileSync(join(root, '.git/index'), 'x');
    writeFileSync(join(base, 'outside/x'), 'x');
    writeFileSync(join(root, 'lib/control.py'), 'x');
    await until(() => changed.has('lib/control.py'));
    expect([...changed].filter((path) => path.includes('.git') || path.includes('link/'))).toEqual([]);
  });

  it('reconciles regularly without events, and not after a tree was removed', async () => {
    await start(30).add(tree);
    await until(() => reconciles >= 2);
    await watcher.remove(root);
    const before = reconciles;
    writeFileSync(join(root, 'lib/a.py'), 'x');
    await new Promise((resolve) => setTimeout(resolve, 150));
    expect(reconciles).toBe(before);
    expect(changed.size).toBe(0);
    expect(watcher.trees).toBe(0);
  });

  it('tells of the first change at once, of the next ones together', async () => {
    const calls: { at: number; paths: readonly string[] }[] = [];
    watcher = startWatcher({
      clock: { now: () => 42 },
      debounceMs: 1_000,
      listener: {
        onChange: (_tree, paths) => void calls.push({ at: performance.now(), paths }),
        onReconcile: () => undefined,
        onDegraded: (reason) => degraded.push(reason),
      },
    });
    await watcher.add(tree);
    const from = performance.now();
    writeFileSync(join(root, 'lib/first.py'), 'x');
    await until(() => calls.length > 0);
    writeFileSync(join(root, 'lib/second.py'), 'x');
    writeFileSync(join(root, 'lib/third.py'), 'x');
    await until(() => calls.length > 1);
    const [first, second] = calls;
    expect((first?.at ?? 0) - from).toBeLessThan(800);
    expect((second?.at ?? 0) - (first?.at ?? 0)).toBeGreaterThan(900);
    expect(second?.paths).toEqual(expect.arrayContaining(['lib/second.py', 'lib/third.py']));
  });

  it('hears again of a tree that comes back, also when another directory lies there now', async () => {
    await start().add(tree);
    await watcher.remove(root);
    writeFileSync(join(root, 'lib/between.py'), 'x');
    await watcher.add(tree);
    writeFileSync(join(root, 'lib/again.py'), 'x');
    await until(() => changed.has('lib/again.py'));
    await watcher.remove(root);
    renameSync(root, `${root}.old`);
    mkdirSync(join(root, 'lib'), { recursive: true });
    await watcher.add(tree);
    writeFileSync(join(root, 'lib/other.py'), 'x');
    await until(() => changed.has('lib/other.py'));
  });

  it('refuses trees after its stop', async () => {
    await start().stop();
    await expect(watcher.add(tree)).rejects.toThrow(/was stopped/);
  });
});

describe('without watches left', () => {
  // A user namespace has its own inotify limit, so that the shortage is real and concerns this child only.
  const inNamespace = [
    '--user',
    '--map-root-user',
    'sh',
    '-c',
    'echo 1 > /proc/sys/user/max_inotify_watches && exec "$@"',
    'sh',
  ];

  it.skipIf(process.platform !== 'linux')('polls, says why, and still reconciles', async () => {
    start();
    const script = `
      import { startWatcher } from ${JSON.stringify(join(import.meta.dirname, '../../../src/watch/start-watcher.ts'))};
      const degraded = []; let reconciles = 0;
      const watcher = startWatcher({ clock: Date, reconcileMs: 60_000, pollMs: 20, debounceMs: 10,
        listener: { onChange() {}, onReconcile() { reconciles += 1; }, onDegraded: (reason) => degraded.push(reason) } });
      await watcher.add({ root: ${JSON.stringify(root)}, kind: 'workspace' });
      const end = Date.now() + 5000;
      while ((degraded.length === 0 || reconciles < 2) && Date.now() < end) await new Promise((r) => setTimeout(r, 10));
      console.log(JSON.stringify({ mode: watcher.mode, degraded, polled: reconciles >= 2 }));
      await watcher.stop();`;
    for (let index = 0; index < 20; index += 1) mkdirSync(join(root, `lib/d${index}`));
    const { stdout } = await promisify(execFile)(
      'unshare',
      [...inNamespace, process.execPath, '--input-type=module', '-e', script],
      {
        timeout: 20_000,
      },
    );
    const answer = JSON.parse(stdout) as { mode: string; degraded: string[]; polled: boolean };
    expect(answer.mode).toBe('polling');
    expect(answer.polled).toBe(true);
    expect(answer.degraded).toHaveLength(1);
    expect(answer.degraded[0]).toMatch(/no inotify watches left/);
  });
});
