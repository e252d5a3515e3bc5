import { readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { type Reply, type Script, type ScriptRequest, tableScript } from '../../src/cli/demo/script.ts';
import { readProcess } from '../../src/sandbox/process-identity.ts';
import { persist } from './support/crash-run.ts';
import { daemonPid, descendants, survivors, until } from './support/kill.ts';
import { queryState } from './support/ledger.ts';
import { command, finish, quietRoles, reply, SRC_PROJECT } from './support/project.ts';
import { keyOf, must, openStage, type Stage } from './support/stage.ts';
import { furnish, userState } from './support/user-state.ts';

let stage: Stage | undefined;
afterEach(async () => {
  await stage?.close();
  stage = undefined;
});

const ROLES = ['planner', 'coder', 'test', 'reviewer'];

function edit(from: string, to: string) {
  return reply({ name: 'edit_file', input: { path: 'src/pkg/util.py', old_text: from, new_text: to } });
}

const slow = (answer: ReturnType<typeof reply>) => ({ ...answer, delayMs: 700 });

const CODER = [
  slow(edit('ONE', 'ONE_')),
  slow(reply({ name: 'append_note', input: { text: 'ONE has a tail now' } })),
  slow(edit('TWO', 'TWO_')),
  slow(finish()),
];
const RESULT = 'ONE_ = 1\nTWO_ = 2\nTHREE = 3';

/**
 * A run whose coder is slow enough to be met at work; every request is kept. The coder's turn `hold` is answered only
 * after a minute when it is asked for the first time.
 */
async function beginSlow(
  coder: readonly Reply[] = CODER,
  hold?: number,
): Promise<{ opened: Stage; run: string; requests: ScriptRequest[] }> {
  const requests: ScriptRequest[] = [];
  const answers = tableScript({ ...quietRoles(['coder', 'test']), coder });
  const script: Script = (request) => {
    const held = coderRequests([request]).length > 0 && request.turn === hold && !requests.some(isTurn(hold));
    requests.push(request);
    const answer = answers(request) as Reply;
    return held ? { ...answer, delayMs: 60_000 } : answer;
  };
  const opened = await openStage({ files: SRC_PROJECT, script, start: false });
  stage = opened;
  await opened.edit('policies/roles/coder.yaml', (text) => text.replace(/allow: \[[^\]]*\]/s, 'allow: ["**"]'));
  await must(opened.cli(['start']));
  const { run } = await opened.json<{ run: string }>(['run', 'rename']);
  await persist(opened, run, { timeoutMs: 60_000, until: () => coderRequests(requests).length > 0 });
  return { opened, run, requests };
}

function isTurn(turn: number): (request: ScriptRequest) => boolean {
  return (request) => request.key === keyOf('coder') && request.turn === turn;
}

function coderRequests(requests: readonly ScriptRequest[]): readonly ScriptRequest[] {
  return requests.filter((request) => request.key === keyOf('coder'));
}

async function expectMerged(opened: Stage, run: string): Promise<void> {
  const { shown } = await persist(opened, run, { timeoutMs: 90_000 });
  expect(shown.state, shown.reason ?? '').toBe('merged');
  expect(shown.tasks[0]?.steps.map((step) => `${step.role}#${step.attempt}`)).toEqual(['coder#1', 'test#1']);
  expect(await opened.git('show', `${shown.target}:src/pkg/util.py`)).toBe(RESULT);
}

describe('stopping while a step runs', () => {
  it('stop lets the step come to its end, and start goes on with the next one', async () => {
    const { opened, run, requests } = await beginSlow();
    const stopped = await must(opened.cli(['stop']));
    expect(stopped.stdout).toContain(run);
    const steps = queryState<{ role: string; state: string }>(opened, 'SELECT role, state FROM steps ORDER BY ordinal');
    expect(steps.map((step) => `${step.role} ${step.state}`)).toEqual(['planner done', 'coder done']);
    expect((await opened.cli(['status'])).code).toBe(6);
    await must(opened.cli(['start']));
    await expectMerged(opened, run);
    expect(coderRequests(requests).map((request) => request.turn)).toEqual([0, 1, 2, 3]);
  });

  it('stop --now ends the agent, and the same attempt goes on with the same conversation', async () => {
    const { opened, run, requests } = await beginSlow(CODER, 1);
    await until(() => coderRequests(requests).length === 2, 'the second turn is asked for');
    const daemon = readProcess(await daemonPid(opened));
    const below = daemon === undefined ? [] : descendants(daemon);
    expect(below.length).toBeGreaterThan(0);
    await must(opened.cli(['stop', '--now']));
    expect(await survivors(below)).toEqual([]);
    await must(opened.cli(['start']));
    await expectMerged(opened, run);
    const [, broken, repeated] = coderRequests(requests);
    expect(repeated?.turn).toBe(1);
    expect(repeated?.system).toBe(broken?.system);
    expect(repeated?.messages).toEqual(broken?.messages);
  });

  it('stop --now hurries a stop that is still waiting', async () => {
    const { opened, run } = await beginSlow([command('sleep 60'), ...CODER]);
    const patient = opened.cli(['stop']);
    await until(() => logOf(opened).then((text) => text.includes('stopping')), 'the daemon takes the first stop');
    await must(opened.cli(['stop', '--now']));
    expect((await patient).code).toBe(0);
    expect(queryState<{ state: string }>(opened, `SELECT state FROM runs WHERE id = '${run}'`)).not.toMatchObject([
      { state: 'failed' },
    ]);
  });
});

function logOf(opened: Stage): Promise<string> {
  return readFile(path.join(opened.state, 'logs/daemon.log'), 'utf8');
}

it('git clean -fdx in the middle of a run loses nothing', async () => {
  const { opened, run, requests } = await beginSlow();
  const edited = await readFile(path.join(opened.project, 'policies/roles/coder.yaml'), 'utf8');
  await opened.git('clean', '-fdxq');
  expect((await readdir(opened.project)).sort()).toEqual(['.git', 'pyproject.toml', 'src', 'tests']);
  expect(coderRequests(requests).length).toBeLessThan(CODER.length);
  await expectMerged(opened, run);
  expect(await readFile(path.join(opened.state, 'notes.bak/coder.md'), 'utf8')).toContain('ONE has a tail now');
  expect((await must(opened.cli(['notes', 'coder']))).stdout).toContain('ONE has a tail now');
  expect(await opened.git('status', '--porcelain', '--ignored')).toBe('');
  // A run that begins now is pinned to the policies that are active, whatever is left of the files.
  const next = await opened.json<{ run: string }>(['run', 'again', '--role', 'test']);
  expect((await persist(opened, next.run, { timeoutMs: 60_000 })).shown.tasks[0]?.steps[0]?.state).toBe('done');
  await must(opened.cli(['init', '--restore']));
  expect(await readFile(path.join(opened.project, 'policies/roles/coder.yaml'), 'utf8')).toBe(edited);
  expect(await readFile(path.join(opened.project, 'agent-notes/coder.md'), 'utf8')).toContain('ONE has a tail now');
  await must(opened.cli(['policy', 'check']));
});

it('a plain init after the clean keeps the notes, and the edited policies aside', async () => {
  const { opened, run } = await beginSlow();
  await expectMerged(opened, run);
  const edited = await readFile(path.join(opened.project, 'policies/roles/coder.yaml'), 'utf8');
  await opened.git('clean', '-fdxq');
  await must(opened.cli(['init', '--yes']));
  expect(await readFile(path.join(opened.project, 'agent-notes/coder.md'), 'utf8')).toContain('ONE has a tail now');
  expect(await readFile(path.join(opened.state, 'policies.bak.old/roles/coder.yaml'), 'utf8')).toBe(edited);
});

it('leaves what is the user’s as it was, byte for byte, and shows nothing of ours', async () => {
  const { opened, run } = await beginSlow();
  // Furnished late on purpose: what is there while agents work must stay, too.
  await furnish(opened, 'pyproject.toml');
  const before = await userState(opened);
  await expectMerged(opened, run);
  expect(await userState(opened)).toEqual(before);
  expect(before['status']).toBe('M pyproject.toml\n?? scratch.txt');
  const ours = (await opened.git('for-each-ref', '--format=%(refname)'))
    .split('\n')
    .filter((ref) => ref.includes('orchestrator'));
  expect(ours).toEqual([`refs/heads/orchestrator/${run}`, `refs/orchestrator/${run}/base`]);
});

describe('real keys', () => {
  it('are in .env and in requests, and nowhere else', async () => {
    const { opened, run } = await beginSlow([
      command('env; cat /proc/*/environ; find / -name .env 2>/dev/null; true'),
      ...CODER,
    ]);
    const daemon = readProcess(await daemonPid(opened));
    const processes = daemon === undefined ? [] : [daemon, ...descendants(daemon)];
    for (const { pid } of processes) {
      for (const file of ['environ', 'cmdline']) {
        expectNoKey(await readFile(`/proc/${pid}/${file}`).catch(() => Buffer.alloc(0)), `${pid} ${file}`);
      }
    }
    expect(processes.length).toBeGreaterThan(1);
    await expectMerged(opened, run);
    for (const role of ROLES.slice(0, 3))
      expect(
        opened.books.some((row) => row.key === keyOf(role)),
        role,
      ).toBe(true);
    const files = await filesBelow(opened.state);
    const places = ['logs/daemon.log', 'state.db', `runs/${run}/agents/T1-coder#1.jsonl`, `runs/${run}/manifest.json`];
    for (const place of places) expect(files).toContain(place);
    for (const file of files.filter((name) => name !== '.env')) {
      expectNoKey(await readFile(path.join(opened.state, file)), file);
    }
    expect(holdsKey(await readFile(path.join(opened.state, '.env')))).toBe(true);
  });

  it('that come from the environment do not stay in the daemon’s', async () => {
    const opened = await openStage({ files: SRC_PROJECT, script: tableScript(quietRoles()), start: false });
    stage = opened;
    const { env } = await opened.json<{ env: string }>(['path']);
    const text = await readFile(env, 'utf8');
    await writeFile(env, text.replace(/^ORCH_KEY_CODER=.*$/m, ''));
    const started = await must(opened.cli(['start'], { env: { ORCH_KEY_CODER: keyOf('coder') } }));
    expect(started.stdout).toContain('ORCH_KEY_CODER');
    const environment = await readFile(`/proc/${await daemonPid(opened)}/environ`);
    expect(environment.toString()).toContain('PATH=');
    expectNoKey(environment, 'environ');
  });
});

function expectNoKey(bytes: Buffer, where: string): void {
  expect(holdsKey(bytes), `a key in ${where}`).toBe(false);
}

function holdsKey(bytes: Buffer): boolean {
  return ROLES.some((role) => bytes.includes(keyOf(role)));
}

async function filesBelow(directory: string): Promise<readonly string[]> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => path.relative(directory, path.join(entry.parentPath, entry.name)));
}
