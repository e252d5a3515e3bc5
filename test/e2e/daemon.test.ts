import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { lstat, mkdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { tableScript } from '../../src/cli/demo/script.ts';
import { readProcess } from '../../src/sandbox/process-identity.ts';
import { daemonPid, killNow, lockHolder, until } from './support/kill.ts';
import { quietRoles, SRC_PROJECT } from './support/project.ts';
import { must, openStage, type Stage } from './support/stage.ts';

let stage: Stage | undefined;
afterEach(async () => {
  await stage?.close();
  stage = undefined;
});

async function open(options: { start?: boolean; init?: readonly string[] } = {}): Promise<Stage> {
  stage = await openStage({ files: SRC_PROJECT, script: tableScript(quietRoles()), ...options });
  return stage;
}

describe('one daemon a repository', () => {
  it('starts once: a second start exits 0 and says that it runs already', async () => {
    const opened = await open();
    const pid = await daemonPid(opened);
    const again = await must(opened.cli(['start']));
    expect(again.stdout).toContain(`running already: pid ${pid}`);
    expect(await opened.json(['start'])).toMatchObject({ alreadyRunning: true, daemon: { pid } });
  });

  it('ten starts at once make one daemon, and all of them say ready', async () => {
    const opened = await open({ start: false });
    const outcomes = await Promise.all(Array.from({ length: 10 }, () => opened.cli(['start', '--json'])));
    expect(outcomes.map((outcome) => `${outcome.code} ${outcome.stderr}`)).toEqual(
      outcomes.map(() => expect.stringMatching(/^0 /)),
    );
    const said = outcomes.map(
      (outcome) => JSON.parse(outcome.stdout) as { alreadyRunning: boolean; daemon: { pid: number } },
    );
    expect([...new Set(said.map((one) => one.daemon.pid))]).toEqual([await lockHolder(opened)]);
    expect(said.filter((one) => !one.alreadyRunning)).toHaveLength(1);
  });

  it('leaves the ground clean on SIGTERM', async () => {
    const opened = await open();
    const pid = await daemonPid(opened);
    const { socket } = await opened.json<{ socket: string }>(['path']);
    process.kill(pid, 'SIGTERM');
    await until(() => readProcess(pid) === undefined, 'the daemon ends on SIGTERM');
    for (const file of [socket, path.join(opened.state, 'daemon.json')]) {
      await expect(stat(file), file).rejects.toThrow('ENOENT');
    }
    expect((await opened.cli(['status'])).code).toBe(6);
    await must(opened.cli(['start']));
    expect(await daemonPid(opened)).not.toBe(pid);
  });

  it('takes over the socket that a killed daemon left', async () => {
    const opened = await open();
    const { socket } = await opened.json<{ socket: string }>(['path']);
    await killNow(await daemonPid(opened));
    expect((await lstat(socket)).isSocket()).toBe(true);
    const down = await opened.cli(['status']);
    expect(down.code).toBe(6);
    expect(down.stderr).toContain('orchestrator start');
    await must(opened.cli(['start']));
    await must(opened.cli(['status']));
  });

  it('keeps its socket private and its inspector shut', async () => {
    const opened = await open();
    const { socket, log } = await opened.json<{ socket: string; log: string }>(['path']);
    expect((await lstat(socket)).mode & 0o777).toBe(0o600);
    expect((await lstat(path.dirname(socket))).mode & 0o777).toBe(0o700);
    const pid = await daemonPid(opened);
    process.kill(pid, 'SIGUSR1');
    expect(await inspectorOpens()).toBe(true);
    expect(await daemonPid(opened)).toBe(pid);
    const said = `${await readFile(path.join(path.dirname(log), 'start.log'), 'utf8')}${await readFile(log, 'utf8')}`;
    expect(said).toContain('ready');
    expect(said).not.toContain('Debugger listening');
  });
});

/** The positive control: a node without a listener of its own opens the inspector on the same signal. */
async function inspectorOpens(): Promise<boolean> {
  const child = spawn(process.execPath, ['--inspect-port=0', '-e', 'setInterval(() => {}, 1000); console.log("up")']);
  try {
    await once(child.stdout, 'data');
    child.kill('SIGUSR1');
    const [said] = (await once(child.stderr, 'data', { signal: AbortSignal.timeout(10_000) })) as [Buffer];
    return said.toString().includes('Debugger listening');
  } finally {
    child.kill('SIGKILL');
  }
}

describe('what it says', () => {
  it('status, digest and path have the shapes that scripts rely on', async () => {
    const opened = await open();
    const { run } = await opened.json<{ run: string }>(['run', 'do it']);
    const waiting = await opened.cli(['run', 'and this', '--wait', '--json']);
    expect(waiting.code).toBe(3);
    const status = await opened.json<Record<string, unknown>>(['status']);
    expect(status).toMatchObject({
      daemon: {
        pid: expect.any(Number),
        version: expect.stringMatching(/^\d+\.\d+\.\d+/),
        since: expect.any(Number),
        socket: expect.stringContaining('daemon.sock'),
        gatewayUrl: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/),
        sandbox: expect.stringMatching(/^(?:bwrap|detect-only)$/),
      },
      checkpoints: expect.any(Number),
      watcher: { mode: expect.stringMatching(/^(?:events|polling)$/), trees: expect.any(Number) },
      disk: { workspacesBytes: expect.any(Number), storeBytes: expect.any(Number) },
    });
    expect(Object.keys(status['watcher'] as object)).toContain('lastEventAt');
    const roles = status['roles'] as { role: string }[];
    expect(roles.map((one) => one.role).sort()).toEqual(['coder', 'planner', 'reviewer', 'test']);
    expect(roles[0]).toMatchObject({ runner: 'builtin', model: expect.any(String), keyTail: expect.any(String) });
    expect(roles[0]).toMatchObject({
      budget: { used: expect.any(Number), held: expect.any(Number), window: expect.any(String) },
    });
    const runs = status['runs'] as { id: string; state: string; request: string }[];
    expect(runs.find((one) => one.id === run)).toMatchObject({ request: 'do it' });
    expect(runs).toHaveLength(2);
    const digest = await must(opened.cli([]));
    expect(digest.stdout).toMatch(/since the beginning: 0 runs ended, 2 at work, \d waiting for you/);
    expect(digest.stdout).toMatch(/spent {2}[\d.]+.* work tokens, .*\ndisk {3}/s);
    expect(digest.stderr).toContain('next   orchestrator review');
    expect((await must(opened.cli([]))).stdout).not.toContain('since the beginning');
    const places = await opened.json<Record<string, string>>(['path']);
    expect(Object.keys(places).sort()).toEqual(['env', 'log', 'socket', 'state', 'workspaces']);
    expect(places['state']).toBe(opened.state);
    expect((await must(opened.cli(['path', 'env']))).stdout.trim()).toBe(places['env']);
    expect((await opened.cli(['path', 'moon'])).code).toBe(2);
  });
});

describe('what it refuses to start with', () => {
  it('names every missing key, model and base URL, of the roles of the pipeline alone', async () => {
    const opened = await open({ start: false });
    const { env } = await opened.json<{ env: string }>(['path']);
    const complete = await readFile(env, 'utf8');
    const without = (...names: string[]) =>
      complete
        .split('\n')
        .filter((line) => !names.some((name) => line.startsWith(`${name}=`)))
        .join('\n');
    await writeFile(env, without('ORCH_BASE_URL', 'ORCH_KEY_CODER', 'ORCH_MODEL_REVIEWER'));
    const refused = await opened.cli(['start']);
    expect(refused.code).toBe(2);
    for (const name of ['ORCH_BASE_URL', 'ORCH_KEY_CODER', 'ORCH_MODEL_REVIEWER'])
      expect(refused.stderr).toContain(name);
    expect(refused.stderr).not.toContain('ORCH_KEY_PLANNER');
    await opened.edit('policies/global.yaml', (text) => text.replace(/^pipeline: .*$/m, 'pipeline: [planner, coder]'));
    await writeFile(env, without('ORCH_KEY_TEST', 'ORCH_MODEL_REVIEWER'));
    await must(opened.cli(['start']));
  });

  it('diagnoses a branch named orchestrator', async () => {
    const opened = await open({ start: false });
    await opened.git('branch', 'orchestrator');
    const refused = await opened.cli(['start']);
    expect(refused.code).toBe(2);
    expect(refused.stderr).toContain('git branch -m orchestrator');
    await opened.git('branch', '-m', 'orchestrator', 'other');
    await must(opened.cli(['start']));
  });

  it('says that a place is no git repository', async () => {
    const opened = await open({ start: false });
    const bare = path.join(opened.directory, 'elsewhere');
    await mkdir(bare);
    const refused = await opened.cli(['-C', bare, 'start']);
    expect(refused.code).toBe(2);
    expect(refused.stderr).toContain('git');
    await must(opened.cli(['start']));
  });

  it('says what brings policies back that are gone', async () => {
    const opened = await open({ start: false });
    await rm(path.join(opened.project, 'policies'), { recursive: true });
    const refused = await opened.cli(['start']);
    expect(refused.code).toBe(2);
    expect(refused.stderr).toContain('init --restore');
    await must(opened.cli(['init', '--restore']));
    await must(opened.cli(['start']));
  });

  it('starts without asking the model endpoint anything, reachable or not', async () => {
    const opened = await open({ start: false });
    const { env } = await opened.json<{ env: string }>(['path']);
    const text = await readFile(env, 'utf8');
    await writeFile(env, text.replace(/^ORCH_BASE_URL=.*$/m, 'ORCH_BASE_URL=http://127.0.0.1:9'));
    await must(opened.cli(['start']));
    await must(opened.cli(['stop']));
    await writeFile(env, text);
    await must(opened.cli(['start']));
    expect(opened.books).toEqual([]);
  });
});
