import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openSandbox } from '../../../src/sandbox/open-sandbox.ts';
import type { Sandbox } from '../../../src/sandbox/sandbox.ts';
import { ESCAPES } from './escape-corpus.ts';
import { buildWorld, runIn, SECRET } from './world.ts';

const log = { info: () => undefined, warn: () => undefined };
/** Below the fresh /tmp of a view, and below the visible read-only root. */
const PARENTS = [tmpdir(), path.resolve('node_modules/.cache/orch-sbx')];
const isRoot = process.getuid?.() === 0;

describe.skipIf(process.platform !== 'linux')('escapes from a view', () => {
  let confined: Sandbox;
  let unconfined: Sandbox;
  let victim: ChildProcess;

  beforeAll(async () => {
    const options = { probeDirectory: tmpdir(), environment: process.env, log };
    confined = await openSandbox({ ...options, mode: 'kernel' });
    unconfined = await openSandbox({ ...options, mode: 'detect-only' });
    victim = spawn('/bin/sleep', ['120'], { env: { CANARY: SECRET }, stdio: 'ignore' });
  });
  afterAll(() => {
    victim.kill('SIGKILL');
    const cache = path.resolve('node_modules/.cache/orch-sbx');
    rmSync(cache, { recursive: true, force: true });
  });

  describe.each(PARENTS)('with everything below %s', (parent) => {
    it.each(ESCAPES.filter((one) => isRoot || one.rootOnly === undefined))('$name', async (attempt) => {
      for (const [sandbox, expected] of [
        [confined, false],
        [unconfined, true],
      ] as const) {
        const world = await buildWorld(parent);
        try {
          const script = `export OUTSIDE_PID=${victim.pid}; ${attempt.script(world)}`;
          const ran = await runIn(sandbox, world.view, script);
          expect({ mode: sandbox.probe.mode, escaped: attempt.escaped(world, ran), errors: ran.errors }).toMatchObject({
            escaped: expected,
          });
        } finally {
          await world.stop();
        }
      }
    });
  });

  it('can signal a process outside only without a view', async () => {
    const world = await buildWorld(tmpdir());
    const target = spawn('/bin/sleep', ['60'], { stdio: 'ignore' });
    const died = new Promise<string>((resolve) => target.once('exit', () => resolve('died')));
    await runIn(confined, world.view, `kill -9 ${target.pid}`);
    expect(target.exitCode ?? target.signalCode).toBeNull();
    await runIn(unconfined, world.view, `kill -9 ${target.pid}`);
    expect(await died).toBe('died');
    await world.stop();
  });

  it('can not undo what hides things, even as root and in a user namespace of its own', async () => {
    const world = await buildWorld(PARENTS[1] ?? '');
    const undo = `umount -l ${world.files.state}; umount -l ${path.dirname(path.dirname(world.files.key))}; mount -o remount,bind,rw /; cat ${world.files.key}`;
    const ran = await runIn(
      confined,
      world.view,
      `${undo}; unshare -Urm bash -c '${undo}'; echo x > ${world.files.protected}; echo end`,
    );
    expect(ran.output).toBe('end\n');
    expect((await runIn(unconfined, world.view, `cat ${world.files.key}`)).output).toBe(SECRET);
    await world.stop();
  });

  it('lets the work be done: tree, scratch, home, objects, the bound socket', async () => {
    mkdirSync(PARENTS[1] ?? '', { recursive: true });
    for (const parent of PARENTS) {
      const world = await buildWorld(parent);
      const { view, files } = world;
      const script = [
        'set -e; echo t > t.txt; echo s > "$TMPDIR/s"; echo h > "$HOME/h"; echo f > /tmp/f; cat /tmp/f',
        `cat ${path.join(files.state, 'store.git/objects/known')}; cat denied/d.txt`,
        `"$NODE" -e 'require("node:net").connect(process.argv[1]).on("data", (d) => console.log(String(d)))' ${files.gatewaySocket}`,
      ].join('\n');
      const ran = await runIn(confined, view, script);
      expect(ran).toEqual({ code: 0, output: `f\nobject${SECRET}hello\n`, errors: '' });
      for (const file of ['t.txt', '../scratch/s']) expect(existsSync(path.join(view.tree, file))).toBe(true);
      expect(existsSync(path.join(view.home, 'h'))).toBe(true);
      expect(existsSync('/tmp/f')).toBe(false);
      await world.stop();
    }
  });
});
