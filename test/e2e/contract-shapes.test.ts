import { readdir, readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { tableScript } from '../../src/cli/demo/script.ts';
import { finish, quietRoles, SRC_PROJECT, write } from './support/project.ts';
import { openStage, play, type Stage } from './support/stage.ts';

let stage: Stage;
let run = '';
let asked: readonly object[] = [];

beforeAll(async () => {
  const coder = [write('tests/test_core.py', 'x'), write('src/pkg/made.py', 'MADE = 1\n'), finish()];
  stage = await openStage({
    files: SRC_PROJECT,
    script: tableScript({ ...quietRoles(['coder', 'test', 'reviewer']), coder }),
  });
  const played = await play(stage, 'Make it.');
  run = played.shown.run;
  asked = played.asked;
});
afterAll(() => stage.close());

const TEXT = expect.any(String);
const NUMBER = expect.any(Number);
const LIST = expect.any(Array);

describe('the JSON that scripts rely on', () => {
  it('status', async () => {
    const budget = { used: NUMBER, held: 0, limit: 1_000_000, window: TEXT };
    const roles = ['coder', 'planner', 'reviewer', 'test'].map((role) =>
      expect.objectContaining({ role, runner: 'builtin', model: `scripted-${role}`, keyTail: 'cdef', budget }),
    );
    expect(await stage.json(['status'])).toMatchObject({
      daemon: { pid: NUMBER, version: TEXT, since: NUMBER, socket: TEXT, gatewayUrl: TEXT, sandbox: TEXT },
      roles: expect.arrayContaining(roles),
      runs: [],
      checkpoints: 0,
      watcher: { mode: TEXT, trees: NUMBER },
      disk: { workspacesBytes: NUMBER, storeBytes: NUMBER },
    });
  });

  it('run, run --wait, runs and show', async () => {
    const target = `orchestrator/${run}`;
    const [row] = await stage.json<object[]>(['runs']);
    expect(row).toEqual({ id: run, state: 'merged', request: 'Make it.', target, createdAt: NUMBER });
    const steps = ['coder', 'test', 'reviewer'].map((role) => ({ role, attempt: 1, state: 'done', tokens: NUMBER }));
    expect(await stage.json(['show', run])).toMatchObject({
      run,
      state: 'merged',
      tasks: [{ id: 'T1', title: 'the task', state: 'merged', steps }],
      target,
      commit: await stage.git('rev-parse', target),
    });
    const waiting = await stage.cli(['run', 'Once more.', '--wait', '--json']);
    expect(waiting.code).toBe(3);
    const waited = JSON.parse(waiting.stdout) as { run: string; target: string };
    expect(waited).toMatchObject({ run: expect.stringMatching(RUN_ID), state: 'paused', commit: null, tasks: LIST });
    await stage.cli(['cancel', waited.run]);
  });

  it('checkpoints, oldest first, as they were asked', async () => {
    const shared = { id: TEXT, run, summary: TEXT, paths: LIST, digest: TEXT, createdAt: NUMBER };
    expect(asked).toEqual([
      { ...shared, kind: 'plan', task: TEXT, role: 'planner', state: 'pending' },
      { ...shared, kind: 'merge', task: null, role: null, state: 'pending' },
    ]);
    expect(await stage.json(['checkpoints'])).toEqual([]);
    const all = await stage.json<{ run: string; state: string }[]>(['checkpoints', '--all']);
    expect(all.filter((one) => one.run === run).map(({ state }) => state)).toEqual(['approved', 'approved']);
  });

  it('violations and conflicts', async () => {
    expect(await stage.json(['conflicts'])).toEqual([]);
    expect(await stage.json(['violations'])).toEqual([
      expect.objectContaining({
        id: TEXT,
        run,
        task: 'T1',
        role: 'coder',
        path: 'tests/test_core.py',
        operation: 'modify',
        decision: 'deny',
        attribution: 'role',
        tree: TEXT,
        detectedBy: 'tool',
        detectedAt: NUMBER,
        resolution: 'prevented',
      }),
    ]);
  });

  it.each(['role', 'model', 'task', 'run', 'day'])('report --by %s', async (by) => {
    type Row = Record<string, unknown>;
    const { rows, total } = await stage.json<{ rows: Row[]; total: Row }>(['report', '--by', by]);
    const figures = ['requests', 'input', 'cacheWrite', 'cacheRead', 'output', 'reasoning', 'workTokens'];
    const names = [...figures, 'usd', 'unpriced', 'estimated', 'forfeit'];
    expect(Object.keys(total)).toEqual(names);
    for (const row of rows) expect(Object.keys(row)).toEqual([by, ...names]);
    for (const name of figures) expect(rows.reduce((sum, row) => sum + Number(row[name]), 0)).toBe(total[name]);
    expect(total).toMatchObject({ requests: stage.books.length, usd: null, unpriced: stage.books.length });
  });

  it('policy explain and path', async () => {
    const [answer] = await stage.json<object[]>(['policy', 'explain', './src/../tests/x.py', '--role', 'coder']);
    const decisions = [{ role: 'coder', decision: 'deny', rule: 'tests/**', origin: TEXT }];
    expect(answer).toEqual({ path: './src/../tests/x.py', canonical: 'tests/x.py', operation: 'create', decisions });
    expect(Object.keys(await stage.json(['path']))).toEqual(['state', 'env', 'workspaces', 'log', 'socket']);
  });
});

const RUN_ID = /^r-\d{8}-\d{6}-[a-z0-9]{4}$/;

describe('what a run leaves behind', () => {
  it('commits of the user with the role in trailers', async () => {
    const format = '--format=%an <%ae>|%cn <%ce>|%(trailers:key=Agent-Role,valueonly,separator=%x2C)';
    expect(run).toMatch(RUN_ID);
    const ada = 'Ada Example <ada@example.invalid>';
    expect(await stage.git('log', format, `main..orchestrator/${run}`)).toBe(`${ada}|${ada}|coder`);
    const trailers = await stage.git('log', '-1', '--format=%(trailers:only)', `orchestrator/${run}`);
    expect(trailers.split('\n')).toEqual([
      'Agent-Role: coder',
      'Agent-Model: scripted-coder',
      `Orchestrator-Run: ${run}`,
      'Orchestrator-Task: T1',
    ]);
  });

  it('a manifest, a log of each agent with a terminal record, and nothing that others may read', async () => {
    const directory = path.join(stage.state, 'runs', run);
    const manifest = JSON.parse(await readFile(path.join(directory, 'manifest.json'), 'utf8')) as object;
    expect(manifest).toMatchObject({ run, baseCommit: await stage.git('rev-parse', 'main'), policyDigest: TEXT });
    expect(manifest).toMatchObject({ models: { coder: { id: 'scripted-coder' } }, baseUrl: TEXT, limits: {} });
    const agents = await readdir(path.join(directory, 'agents'));
    expect(agents).toHaveLength(4);
    for (const name of agents) {
      const lines = (await readFile(path.join(directory, 'agents', name), 'utf8')).trimEnd().split('\n');
      expect(JSON.parse(lines.at(-1) ?? '')).toMatchObject({ type: 'terminal', agent: expect.stringContaining(run) });
    }
    expect((await stat(stage.state)).mode & 0o777).toBe(0o700);
    for (const name of ['.env', 'state.db', 'daemon.json', 'daemon.sock']) {
      expect([name, (await stat(path.join(stage.state, name))).mode & 0o777]).toEqual([name, 0o600]);
    }
  });
});
