import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, inject, it } from 'vitest';

const run = promisify(execFile);
const bin = inject('installedBin');
let directory: string;

/** The platform's own Node packages: binaries inside, no install script. */
beforeAll(async () => {
  directory = await mkdtemp(path.join(tmpdir(), 'orch-nodes-'));
  const platform = `node-${process.platform}-${process.arch}`;
  const wanted = ['20', '22'].map((version) => `node${version}@npm:${platform}@${version}`);
  await run('npm', ['install', '--prefix', directory, '--no-audit', '--no-fund', ...wanted], { cwd: directory });
});
afterAll(() => rm(directory, { recursive: true, force: true }));

function node(major: 20 | 22): string {
  return path.join(directory, 'node_modules', `node${major}`, 'bin', 'node');
}

it('runs the whole demo on Node 22', async () => {
  const { stdout } = await run(node(22), [bin, 'demo', '--yes'], { timeout: 240_000, maxBuffer: 16 * 1024 * 1024 });
  expect(stdout).toMatch(/^Demo: the model is a script/);
  expect(stdout).toContain('(fast-forward)');
  expect(stdout).toContain('budget of role coder');
}, 300_000);

it('says in one line what a Node that is too old needs, and exits 2', async () => {
  const failed = await run(node(20), [bin, '--version']).then(
    () => undefined,
    (error: { code: number; stderr: string }) => error,
  );
  expect(failed?.code).toBe(2);
  expect(failed?.stderr).toMatch(/needs Node >= 22\.22 and this is v20\./);
  expect(failed?.stderr.trim().split('\n')).toHaveLength(1);
});

it('prints its version on Node 22 without a warning', async () => {
  const { stdout, stderr } = await run(node(22), [bin, '--version']);
  expect(stdout.trim()).toMatch(/^\d+\.\d+\.\d+$/);
  expect(stderr).toBe('');
});
