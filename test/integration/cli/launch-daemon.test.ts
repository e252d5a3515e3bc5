import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Io } from '../../../src/cli/io.ts';
import { launchAttached, launchDetached } from '../../../src/cli/launch-daemon.ts';

let directory: string;
let mentioned: string;
let interrupt: AbortController;
let pids: number[];

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'orch-launch-'));
  mentioned = '';
  interrupt = new AbortController();
  pids = [];
});
afterEach(() => {
  for (const pid of pids) process.kill(pid);
  rmSync(directory, { recursive: true, force: true });
});

/** A daemon that runs `script`, with `say(record)` for descriptor 3. */
function launch(script: string) {
  const entry = join(directory, 'daemon.mjs');
  writeFileSync(
    entry,
    `import { writeFileSync, writeSync } from 'node:fs';
     writeFileSync(${JSON.stringify(join(directory, 'started'))}, JSON.stringify({ pid: process.pid, argv: process.argv.slice(2) }));
     const say = (record) => writeSync(3, JSON.stringify(record) + '\\n');
     ${script}`,
  );
  const io = {
    stderr: (text: string) => {
      mentioned += text;
    },
    quiet: false,
    execPath: process.execPath,
    env: { ...process.env, ORCH_KEY_CODER: 'sk-secret', ANTHROPIC_CUSTOM_HEADERS: 'x-api-key: decoy', KEPT: 'kept' },
    signal: interrupt.signal,
  } as unknown as Io;
  return { io, root: directory, logs: directory, entry };
}

const started = () => JSON.parse(readFileSync(join(directory, 'started'), 'utf8')) as { pid: number; argv: string[] };
const isAlive = (pid: number) => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};

describe('detached', () => {
  test('progress is shown, ready returns, and the daemon lives on in a session of its own', async () => {
    const outcome = await launchDetached(
      launch(`say({ progress: 'building slot 1' }); say({ ready: {} }); setInterval(() => {}, 1000);`),
    );
    expect(outcome).toBe('ready');
    expect(mentioned).toBe('building slot 1\n');
    const { pid, argv } = started();
    pids.push(pid);
    expect(argv).toEqual(['--repository', directory, '--variables-on-stdin']);
    expect(isAlive(pid)).toBe(true);
    expect(readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ')[3]).toBe(String(pid));
  });

  test("keys are handed over on standard input and are in nobody's environment", async () => {
    const outcome = await launchDetached(
      launch(`let sent = ''; for await (const chunk of process.stdin) sent += chunk;
              say({ progress: sent + ' ' + process.env.ORCH_KEY_CODER }); say({ ready: {} });`),
    );
    expect(outcome).toBe('ready');
    expect(mentioned).toBe('{"ORCH_KEY_CODER":"sk-secret"} undefined\n');
  });

  test("what the vendors' clients would read from the environment does not reach its agents", async () => {
    await launchDetached(
      launch(
        `say({ progress: String(process.env.ANTHROPIC_CUSTOM_HEADERS) + ' ' + process.env.KEPT }); say({ ready: {} });`,
      ),
    );
    expect(mentioned).toBe('undefined kept\n');
  });

  test('another one runs already', async () => {
    expect(await launchDetached(launch('say({ alreadyRunning: true });'))).toBe('already-running');
  });

  test("the daemon's error keeps code and details", async () => {
    const failing = `say({ error: { code: 'configuration', message: 'no key', details: ['ORCH_KEY_CODER'] } }); process.exit(2);`;
    await expect(launchDetached(launch(failing))).rejects.toMatchObject({
      code: 'configuration',
      message: 'no key',
      details: ['ORCH_KEY_CODER'],
    });
  });

  test('a crash shows the end of its output', async () => {
    await expect(launchDetached(launch(`throw new Error('cannot read the store');`))).rejects.toMatchObject({
      code: 'failed',
      details: expect.arrayContaining([expect.stringContaining('cannot read the store')]),
    });
  });

  test('an interrupt ends the daemon that is not ready yet', async () => {
    const launched = launchDetached(launch(`say({ progress: 'x' }); setInterval(() => {}, 1000);`));
    const refused = expect(launched).rejects.toMatchObject({ code: 'interrupted' });
    while (mentioned === '') await new Promise((resolve) => setTimeout(resolve, 20));
    interrupt.abort();
    await refused;
    const { pid } = started();
    for (let look = 0; isAlive(pid) && look < 100; look++) await new Promise((resolve) => setTimeout(resolve, 20));
    expect(isAlive(pid)).toBe(false);
  });
});

test("attached: the daemon's exit code is the result", async () => {
  expect(await launchAttached(launch('process.exit(2);'))).toBe(2);
  expect(started().argv).toEqual(['--repository', directory, '--variables-on-stdin', '--foreground']);
});
