import { spawn } from 'node:child_process';
import { appendFileSync, existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { OrchestratorError } from '../../../src/domain/errors.ts';
import type { CheckpointId } from '../../../src/domain/ids.ts';
import type { RepoPath } from '../../../src/domain/path.ts';
import { checkpoint, NOW, RUN, runResult, STATUS } from '../api/fake-backend.ts';
import { makePlace, type Place } from './cli-process.ts';

let place: Place;
beforeEach(() => {
  place = makePlace();
});
afterEach(() => place.remove());

async function json(...args: string[]) {
  const finished = await place.cli([...args, '--json']);
  expect(finished).toMatchObject({ code: 0 });
  return JSON.parse(finished.stdout);
}

describe('JSON shapes', () => {
  test('of the looking commands', async () => {
    await place.serve();
    expect(Object.keys(await json('status'))).toEqual(
      expect.arrayContaining(['daemon', 'roles', 'runs', 'checkpoints', 'watcher', 'disk']),
    );
    expect((await json('runs'))[0]).toEqual({
      id: RUN,
      state: 'running',
      request: 'do it',
      target: `orchestrator/${RUN}`,
      createdAt: NOW,
    });
    expect((await json('checkpoints'))[0]).toEqual({
      id: 'c-aaaaaa',
      kind: 'plan',
      run: RUN,
      task: null,
      role: null,
      summary: 'planner proposes 2 tasks',
      paths: ['src/slug.py'],
      digest: 'e'.repeat(64),
      createdAt: NOW,
      state: 'pending',
    });
    expect(await json('show', RUN)).toMatchObject({
      run: RUN,
      tasks: [{ id: 'T1', steps: [{ role: 'coder', tokens: 1234 }] }],
    });
    expect(await json('show', `${RUN}/T1`)).toMatchObject({ id: 'T1', title: 'slugify keeps digits' });
    expect(await json('show', 'c-aaaaaa')).toMatchObject({
      id: 'c-aaaaaa',
      diff: null,
      findings: [],
      body: expect.any(String),
    });
    expect(await json('conflicts')).toEqual([]);
    expect((await json()).nextCommand).toBe('orchestrator review');
  });

  test('checkpoints are oldest first whatever the daemon sends', async () => {
    const older = checkpoint({ id: 'c-older1' as CheckpointId, kind: 'merge', createdAt: NOW - 1 });
    await place.serve({ checkpoints: async () => [checkpoint(), older] });
    expect((await json('checkpoints')).map((row: { id: string }) => row.id)).toEqual(['c-older1', 'c-aaaaaa']);
    // For people: may I (plan) before ready (merge).
    const { stdout } = await place.cli(['checkpoints']);
    expect(stdout.indexOf('c-aaaaaa')).toBeLessThan(stdout.indexOf('c-older1'));
  });

  test('a violation without a role still has every field', async () => {
    const violation = {
      id: 'v-1',
      path: 'a' as RepoPath,
      operation: 'modify',
      decision: 'deny',
      attribution: 'unknown',
      tree: 'checkout',
      detectedBy: 'watch',
      detectedAt: NOW,
      resolution: 'restored',
    } as const;
    await place.serve({ violations: async () => [violation] });
    expect(await json('violations')).toEqual([{ ...violation, run: null, task: null, role: null }]);
  });

  test('only a look by a person moves the mark of the digest', async () => {
    const backend = await place.serve();
    await json();
    await place.cli([]);
    expect(backend.calls).toEqual([
      ['digest', { mark: false }],
      ['digest', { mark: true }],
    ]);
  });

  test('run without --wait', async () => {
    const backend = await place.serve();
    expect(await json('run', 'do it', '--role', 'coder', '--dry-run')).toMatchObject({
      run: RUN,
      target: `orchestrator/${RUN}`,
    });
    expect(backend.calls).toEqual([
      [
        'run',
        {
          request: 'do it',
          role: 'coder',
          withWip: false,
          dryRun: true,
          author: { name: 'Test Person', email: 'person@example.org' },
        },
      ],
    ]);
  });
});

describe('for people', () => {
  test('hostile text cannot reach the terminal, in either form', async () => {
    const hostile = 'evil\x1b[2J\u202e\u200bname\x07';
    await place.serve({
      runs: async () => [{ id: RUN, state: 'running', request: hostile, target: 't', createdAt: NOW }],
      showCheckpoint: async () => checkpoint({ summary: hostile, body: hostile, diff: `+${hostile}\n` }),
    });
    for (const args of [['runs'], ['runs', '--json'], ['show', 'c-aaaaaa'], ['show', 'c-aaaaaa', '--json']]) {
      const { stdout } = await place.cli(args);
      expect(stdout).toContain('evil');
      expect(stdout).not.toMatch(/[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e\u200b]/);
    }
    expect((await json('runs'))[0].request).toBe(hostile);
  });

  test('every looking command says something on stdout and exits 0', async () => {
    await place.serve();
    for (const args of [
      [],
      ['status'],
      ['runs'],
      ['checkpoints'],
      ['show', RUN],
      ['show', `${RUN}/T1`],
      ['show', 'c-aaaaaa'],
      ['violations'],
      ['conflicts'],
    ]) {
      const finished = await place.cli(args);
      expect(finished.code).toBe(0);
      expect(finished.stdout.length).toBeGreaterThan(10);
      expect(finished.stdout).not.toContain('undefined');
    }
  });

  test('-q leaves the result and drops hints', async () => {
    await place.serve();
    expect((await place.cli(['checkpoints'])).stderr).toContain('orchestrator review');
    expect(await place.cli(['checkpoints', '-q'])).toMatchObject({
      stderr: '',
      stdout: expect.stringContaining('c-aaaaaa'),
    });
  });

  test('what approve and reject will do is shown', async () => {
    await place.serve();
    const { stdout } = await place.cli(['show', 'c-aaaaaa']);
    expect(stdout).toMatch(/approve: +the tasks start/);
    expect(stdout).toMatch(/reject: +the run is rejected/);
  });
});

describe('answers', () => {
  test('approve is bound to the digest that was looked up, and says what happens next', async () => {
    const backend = await place.serve();
    const finished = await place.cli(['approve', 'c-aaaaaa', '--tokens', '300k', '--despite-verify']);
    expect(finished).toMatchObject({ code: 0, stdout: 'c-aaaaaa approved: the tasks start\n' });
    expect(backend.calls.at(-1)).toEqual([
      'approve',
      { id: 'c-aaaaaa', tokens: 300_000, despiteVerify: true, digest: 'e'.repeat(64), by: 'tester' },
    ]);
  });

  test('an unknown id is 2, and no other id of that call is answered', async () => {
    const backend = await place.serve();
    expect(await place.cli(['approve', 'c-aaaaaa', 'c-nothere'])).toMatchObject({ code: 2, stdout: '' });
    expect(backend.calls.map(([name]) => name)).toEqual(['showCheckpoint', 'showCheckpoint']);
  });

  test.each(['approved', 'rejected', 'void'] as const)('one that is %s already is 5', async (state) => {
    const backend = await place.serve({ showCheckpoint: async () => checkpoint({ state }) });
    expect((await place.cli(['approve', 'c-aaaaaa'])).code).toBe(5);
    expect((await place.cli(['reject', 'c-aaaaaa', '--reason', 'no'])).code).toBe(5);
    expect(backend.calls.every(([name]) => name === 'showCheckpoint')).toBe(true);
  });

  test('one that became void is 5 and names its replacement', async () => {
    await place.serve({
      approve: async ({ id }) => ({
        id,
        state: 'void',
        message: 'the target moved from 1111111 to 2222222',
        replacedBy: 'c-bbbbbb',
      }),
    });
    const finished = await place.cli(['approve', 'c-aaaaaa']);
    expect(finished.code).toBe(5);
    expect(finished.stdout).toMatch(/void: the target moved[\s\S]*c-bbbbbb replaces it/);
    expect(finished.stderr).toContain('orchestrator show c-bbbbbb');
  });

  test("the daemon's refusal keeps its words and its exit code", async () => {
    await place.serve({
      approve: async () => {
        throw new OrchestratorError('refused', 'verify failed', { details: ['add --despite-verify'] });
      },
    });
    expect(await place.cli(['approve', 'c-aaaaaa'])).toMatchObject({
      code: 5,
      stderr: 'orchestrator: verify failed\n  add --despite-verify\n',
    });
  });

  test('reject carries reason, rework and task', async () => {
    const backend = await place.serve();
    expect(
      (await place.cli(['reject', 'c-aaaaaa', '--reason', 'keep the name', '--rework', '--task', 'T2'])).code,
    ).toBe(0);
    expect(backend.calls.at(-1)).toEqual([
      'reject',
      { id: 'c-aaaaaa', reason: 'keep the name', rework: true, task: 'T2', digest: 'e'.repeat(64), by: 'tester' },
    ]);
  });
});

describe('run --wait', () => {
  const waitFor = (...args: string[]) => place.cli(['run', 'do it', '--wait', ...args]);

  test.each([
    ['merged', null, 0],
    ['failed', 'no step changed a file', 1],
    ['failed', 'the gate refused the result: src/a.py: deny', 5],
    ['rejected', 'you said no', 1],
    ['budget_exhausted', 'coder used 200k', 4],
  ])('%s (%s) exits %i', async (state, reason, code) => {
    await place.serve({ showRun: async () => runResult({ state, reason }) });
    const finished = await waitFor('--json');
    expect(finished.code).toBe(code);
    expect(JSON.parse(finished.stdout)).toMatchObject({
      run: RUN,
      state,
      tasks: [{ id: 'T1' }],
      target: expect.any(String),
      commit: null,
    });
  });

  test('without a terminal it ends at the first checkpoint with 3 and the commands that answer', async () => {
    let looks = 0;
    await place.serve({
      showRun: async () => runResult(++looks < 3 ? {} : { state: 'paused', checkpoints: ['c-aaaaaa'] }),
      events: async ({ afterSeq }) =>
        afterSeq > 0
          ? []
          : [{ seq: 1, at: NOW, type: 'step-started', run: RUN, task: 'T1', role: 'coder', data: { summary: 'goes' } }],
    });
    const finished = await waitFor();
    expect(finished).toMatchObject({ code: 3, stdout: `${RUN} waits at c-aaaaaa\n` });
    expect(finished.stderr).toContain('10:15:00 T1/coder step started: goes');
    expect(finished.stderr).toContain('orchestrator approve c-aaaaaa');
    expect(looks).toBe(3);
  });

  test('approved while its target is checked out: 3, and land is named', async () => {
    await place.serve({
      showRun: async () => runResult({ state: 'ready', reason: `it is checked out: run \`orchestrator land ${RUN}\`` }),
    });
    const finished = await waitFor();
    expect(finished.code).toBe(3);
    expect(finished.stderr).toContain(`orchestrator land ${RUN}`);
  });

  test('Ctrl-C is 130 and leaves the run alone', async () => {
    const backend = await place.serve({
      events: () => new Promise((resolve) => setTimeout(() => resolve([]), 20_000).unref()),
    });
    const child = place.start(['run', 'do it', '--wait']);
    const ended = new Promise<number | null>((resolve) => child.on('exit', resolve));
    while (!backend.calls.some(([name]) => name === 'events')) await new Promise((resolve) => setTimeout(resolve, 20));
    child.kill('SIGINT');
    expect(await ended).toBe(130);
    expect(backend.calls.map(([name]) => name)).not.toContain('cancel');
  });

  test('a user whom git does not know: 2 with the two commands', async () => {
    const backend = await place.serve();
    const finished = await place.cli(['run', 'do it'], { env: { GIT_CONFIG_GLOBAL: '/dev/null' } });
    expect(finished.code).toBe(2);
    expect(finished.stderr).toMatch(/git config user\.name[\s\S]*git config user\.email/);
    expect(backend.calls).toEqual([]);
  });
});

describe('steering', () => {
  test('each command reaches the daemon with what was given', async () => {
    mkdirSync(join(place.repository, 'src'));
    const backend = await place.serve();
    for (const args of [
      ['cancel', RUN],
      ['resume', RUN],
      ['retry', 'T1', '--run', RUN],
      ['gc', '--dry-run'],
      ['policy', 'reload'],
    ]) {
      expect((await place.cli(args)).code).toBe(0);
    }
    expect((await place.cli(['restore', 'coder', './app.py'], { cwd: join(place.repository, 'src') })).code).toBe(0);
    expect((await place.cli(['land', RUN, '--squash', '--branch', 'topic'])).stdout).toContain('main is now at');
    const told = backend.calls.filter(([name]) => name !== 'showRun');
    expect(told).toEqual([
      ['cancel', RUN],
      ['resume', RUN],
      ['retry', { run: RUN, task: 'T1' }],
      ['gc', { dryRun: true }],
      ['policyReload', undefined],
      ['restore', { role: 'coder', path: 'src/app.py' }],
      ['land', { run: RUN, directory: place.repository, squash: true, branch: 'topic' }],
    ]);
  });

  test('unknown runs, tasks and paths outside are 2', async () => {
    const backend = await place.serve();
    for (const args of [
      ['cancel', 'r-x'],
      ['resume', 'r-x'],
      ['retry', `${RUN}/T9`],
      ['show', 'r-x'],
      ['show', `${RUN}/T9`],
      ['restore', 'coder', '../x'],
    ]) {
      expect((await place.cli(args)).code).toBe(2);
    }
    expect(backend.calls.every(([name]) => name === 'showRun' || name === 'showCheckpoint')).toBe(true);
  });

  test('stop waits until the process is gone and names what goes on later', async () => {
    const daemon = spawn('sleep', ['60']);
    await place.serve({
      status: async () => ({ ...STATUS, daemon: { ...STATUS.daemon, pid: daemon.pid ?? 0 } }),
      stop: async () => void setTimeout(() => daemon.kill(), 300),
    });
    const finished = await place.cli(['stop']);
    expect(finished).toMatchObject({ code: 0, stdout: `stopped; these go on at the next start: ${RUN}\n` });
    expect(daemon.signalCode).toBe('SIGTERM');
  });

  test('start says so when a daemon runs already', async () => {
    await place.serve();
    expect(await place.cli(['start'])).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^running already: pid 1/),
    });
    expect(await json('start')).toMatchObject({ alreadyRunning: true, daemon: { pid: 1 } });
  });
});

describe('report', () => {
  test('JSON, table, CSV, grouping and time', async () => {
    const backend = await place.serve();
    const shape = await json('report', '--since', '2026-11-30');
    expect(shape.rows[0]).toMatchObject({ role: 'coder', requests: 2, input: 100, usd: null, unpriced: 2 });
    expect(shape.total).toMatchObject({ workTokens: 121 });
    expect((await place.cli(['report'])).stdout).toMatch(/coder +2 +100/);
    expect((await place.cli(['report', '--by', 'day', '--format', 'csv'])).stdout).toContain('coder,2,100');
    expect(backend.calls.map(([, request]) => request)).toEqual([
      { by: 'role', since: Date.UTC(2026, 10, 30) },
      { by: 'role' },
      { by: 'day' },
    ]);
  });

  test.each([
    ['--by', 'mood'],
    ['--format', 'html'],
    ['--since', 'yesterday'],
  ])('%s %s is 2', async (...args) => {
    await place.serve();
    expect((await place.cli(['report', ...args])).code).toBe(2);
  });
});

describe('policy', () => {
  test('explain by a shipped profile needs no repository', async () => {
    const finished = await place.cli(['policy', 'explain', '--profile', 'python-src', '--stdin', '--json'], {
      cwd: place.directory,
      input: 'src/a.py\ntests/test_a.py\n',
    });
    expect(finished.code).toBe(0);
    const [code, tests] = JSON.parse(finished.stdout);
    const decisionOf = (row: { decisions: { role: string; decision: string }[] }, role: string) =>
      row.decisions.find((decision) => decision.role === role)?.decision;
    expect(decisionOf(code, 'coder')).toBe('write');
    expect(decisionOf(tests, 'coder')).toBe('deny');
    expect(decisionOf(tests, 'test')).toBe('write');
  });

  test('check and show read the files that init wrote; an error in one is 2', async () => {
    await place.cli(['init', '--yes', '--profile', 'generic']);
    expect((await place.cli(['policy', 'check'])).code).toBe(0);
    expect((await place.cli(['policy', 'show', 'coder'])).stdout).toMatch(/policies\/roles\/coder\.yaml:\d+/);
    expect(JSON.parse((await place.cli(['policy', 'schema', 'role'])).stdout)).toMatchObject({ type: 'object' });
    appendFileSync(join(place.repository, 'policies/roles/coder.yaml'), 'wriet: []\n');
    const broken = await place.cli(['policy', 'check']);
    expect(broken.code).toBe(2);
    expect(broken.stdout).toMatch(/coder\.yaml:\d+.*wriet/);
  });
});

describe('without a daemon', () => {
  test('notes by role, and the digest shows the same thought once', async () => {
    const file = (role: string) => join(place.repository, 'agent-notes', `${role}.md`);
    mkdirSync(join(place.repository, 'agent-notes'));
    writeFileSync(file('coder'), '# coder\n\n<!-- r:T1:coder#1:3 -->\nslug.py has no tests\n');
    writeFileSync(
      file('test'),
      '# test\n\n<!-- r:T1:test#1:2 -->\nSlug.py has  no tests\n\n<!-- r:T1:test#1:4 -->\nuse pytest\n',
    );
    expect((await place.cli(['notes', 'coder'])).stdout).toContain('slug.py has no tests');
    expect((await place.cli(['notes', 'planner'])).code).toBe(2);
    expect(await json('notes', 'merge')).toEqual([
      { text: 'slug.py has no tests', roles: ['coder', 'test'], sources: ['r:T1:coder#1:3', 'r:T1:test#1:2'] },
      { text: 'use pytest', roles: ['test'], sources: ['r:T1:test#1:4'] },
    ]);
  });

  test('logs are readable, the last lines first asked for, and followed', async () => {
    const log = join(place.state, 'logs', 'daemon.log');
    mkdirSync(join(place.state, 'logs'));
    const line = (msg: string) => `${JSON.stringify({ level: 30, time: NOW, pid: 1, hostname: 'h', msg, run: RUN })}\n`;
    writeFileSync(log, line('one') + line('two') + line('three'));
    expect((await place.cli(['logs', '-n', '2'])).stdout).toBe(
      `2026-11-30T10:15:00.000Z info  two run=${RUN}\n2026-11-30T10:15:00.000Z info  three run=${RUN}\n`,
    );
    const child = place.start(['logs', '-f', '-n', '1']);
    let shown = '';
    child.stdout?.on('data', (chunk) => {
      if (shown === '') appendFileSync(log, line('four'));
      shown += chunk;
      if (shown.includes('four')) child.kill('SIGINT');
    });
    expect(await new Promise((resolve) => child.on('exit', resolve))).toBe(130);
    expect(shown).toMatch(/three[\s\S]*four/);
    expect(existsSync(log)).toBe(true);
  });
});
