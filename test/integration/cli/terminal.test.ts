import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { checkpoint, runResult } from '../api/fake-backend.ts';
import { makePlace, type Place } from './cli-process.ts';

/** Runs argv[3:] on a terminal of its own and types each of argv[2] (JSON [prompt, keys] pairs) when its prompt shows. */
const DRIVER = `
import json, os, pty, sys, time, select
steps = json.loads(sys.argv[1])
pid, fd = pty.fork()
if pid == 0:
    os.execv(sys.argv[2], sys.argv[2:])
seen, screen, deadline = b"", b"", time.time() + 20
while time.time() < deadline:
    ready, _, _ = select.select([fd], [], [], 0.2)
    if ready:
        try:
            data = os.read(fd, 65536)
        except OSError:
            break
        if not data:
            break
        seen += data
        screen += data
    if steps and steps[0][0].encode() in seen:
        seen = b""
        os.write(fd, steps.pop(0)[1].encode())
_, status = os.waitpid(pid, 0)
print(json.dumps({"code": os.waitstatus_to_exitcode(status), "screen": screen.decode("utf8", "replace")}))
`;
const MAIN = fileURLToPath(new URL('../../../src/cli/main.ts', import.meta.url));

let place: Place;
beforeEach(() => {
  place = makePlace();
  writeFileSync(join(place.directory, 'driver.py'), DRIVER);
});
afterEach(() => place.remove());

function onTerminal(args: readonly string[], steps: readonly (readonly [string, string])[]) {
  return new Promise<{ code: number; screen: string }>((resolve, reject) => {
    const child = spawn(
      'python3',
      [join(place.directory, 'driver.py'), JSON.stringify(steps), process.execPath, MAIN, ...args],
      {
        cwd: place.repository,
        env: { ...place.env, TERM: 'xterm' },
      },
    );
    let output = '';
    child.stdout.on('data', (chunk) => {
      output += chunk;
    });
    child.on('error', reject);
    child.on('exit', () => resolve(JSON.parse(output)));
  });
}

test('review asks with single keys and shows the diff in colour', async () => {
  let pending = [checkpoint({ diff: '-old\n+new\n' })];
  const backend = await place.serve({
    checkpoints: async () => pending,
    approve: async ({ id }) => {
      pending = [];
      return { id, state: 'approved', message: 'the tasks start' };
    },
  });
  const { code, screen } = await onTerminal(
    ['review'],
    [
      ['approve?', 'd'],
      ['+new', 'y'],
    ],
  );
  expect(screen).toContain('\x1b[32m+new\x1b[39m');
  expect(screen).toContain('the tasks start');
  expect(backend.calls.map(([name]) => name)).toContain('approve');
  expect(code).toBe(0);
});

test('NO_COLOR and --no-color leave no colour', async () => {
  await place.serve();
  const { screen } = await onTerminal(['show', 'c-aaaaaa', '--no-color'], []);
  expect(screen).toContain('c-aaaaaa');
  expect(screen).not.toContain('\x1b[');
});

test('Ctrl-C in a review leaves everything pending: 3', async () => {
  const backend = await place.serve();
  const { code } = await onTerminal(['review'], [['approve?', '\x03']]);
  expect(code).toBe(3);
  expect(backend.calls.map(([name]) => name)).toEqual(['checkpoints', 'checkpoints']);
});

test('run --wait asks in place and goes on to the end', async () => {
  let answered = false;
  const backend = await place.serve({
    showRun: async () =>
      runResult(
        answered ? { state: 'merged', commit: '1'.repeat(40) } : { state: 'paused', checkpoints: ['c-aaaaaa'] },
      ),
    reject: async ({ id }) => {
      answered = true;
      return { id, state: 'rejected', message: 'the reason goes to the agent' };
    },
  });
  const { code } = await onTerminal(
    ['run', 'do it', '--wait'],
    [
      ['approve?', 'n'],
      ['reason', 'not like that\r'],
    ],
  );
  expect(code).toBe(0);
  expect(backend.calls.find(([name]) => name === 'reject')?.[1]).toMatchObject({
    reason: 'not like that',
    by: 'tester',
  });
});

test('run --wait asks again at the next question', async () => {
  const answered: string[] = [];
  await place.serve({
    showRun: async () => {
      const next = ['c-aaaaaa', 'c-bbbbbb'][answered.length];
      return runResult(
        next === undefined ? { state: 'merged', commit: '1'.repeat(40) } : { state: 'paused', checkpoints: [next] },
      );
    },
    showCheckpoint: async (id) => checkpoint({ id: id as never }),
    approve: async ({ id }) => {
      answered.push(id);
      return { id, state: 'approved', message: `answered ${id}` };
    },
  });
  const { code } = await onTerminal(
    ['run', 'do it', '--wait'],
    [
      ['approve?', 'y'],
      ['approve?', 'y'],
    ],
  );
  expect(answered).toEqual(['c-aaaaaa', 'c-bbbbbb']);
  expect(code).toBe(0);
});

test('run --wait and quit: 3', async () => {
  await place.serve({ showRun: async () => runResult({ state: 'paused', checkpoints: ['c-aaaaaa'] }) });
  expect((await onTerminal(['run', 'do it', '--wait'], [['approve?', 'q']])).code).toBe(3);
});
