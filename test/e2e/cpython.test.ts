import { createHash } from 'node:crypto';
import { cp, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { performance } from 'node:perf_hooks';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import type { ScriptProtocol } from '../../src/cli/demo/script.ts';
import { ASKED, ASKED_CONTENT, cpythonScript, STRAY, TOUCHED_TEST, type Told } from './support/cpython-script.ts';
import { makeCpythonRepository } from './support/cpython-source.ts';
import { approveAll, type CheckpointRow, keyOf, must, openStage, play, type Stage } from './support/stage.ts';

let base: string;
beforeAll(async () => {
  base = await mkdtemp(path.join(tmpdir(), 'orch-e2e-cpython-'));
  await makeCpythonRepository(base);
}, 600_000);
afterAll(() => rm(base, { recursive: true, force: true }));

let stage: Stage | undefined;
afterEach(async () => {
  await stage?.close();
  stage = undefined;
});

interface ViolationRow {
  readonly role: string | null;
  readonly path: string;
  readonly decision: string;
  readonly detectedBy: string;
}

interface Walk {
  readonly opened: Stage;
  readonly told: Told;
  readonly asked: readonly CheckpointRow[];
  /** What `show` said of each checkpoint before it was answered, by kind. */
  readonly shown: ReadonlyMap<string, string>;
  readonly target: string;
  readonly run: string;
}

/** init, keys, start, run, the answers: everything that a person types up to `merged`. */
async function walk(
  protocol: ScriptProtocol,
  boundary: (checkpoint: CheckpointRow) => readonly string[],
): Promise<Walk> {
  const told: Told = new Map();
  const opened = await openStage({
    files: {},
    repository: (project) => cp(base, project, { recursive: true, preserveTimestamps: true }),
    protocol,
    start: false,
    script: cpythonScript(told),
  });
  stage = opened;
  const untouched = await fingerprint(opened);
  await timed('init', () => must(opened.cli(['init', '--yes'])));
  await opened.edit('policies/roles/coder.yaml', (text) =>
    text.replace(/allow: \[[^\]]*\]/, 'allow: ["**"]').replace(/task: \w+/, 'task: 40k'),
  );
  await must(opened.cli(['policy', 'check']));
  await timed('start', () => must(opened.cli(['start'])));
  expect(await fingerprint(opened)).toEqual(untouched);
  const shown = new Map<string, string>();
  const { shown: ended, asked } = await timed('run', () =>
    play(opened, 'Give TextWrapper a repr', {
      answer: async (checkpoint) => {
        shown.set(checkpoint.kind, (await must(opened.cli(['show', checkpoint.id]))).stdout);
        expect(await fingerprint(opened), checkpoint.kind).toEqual(untouched);
        return checkpoint.kind === 'boundary' ? boundary(checkpoint) : approveAll(checkpoint);
      },
      timeoutMs: 240_000,
    }),
  );
  expect(ended.state, ended.reason ?? '').toBe('merged');
  expect(await fingerprint(opened)).toEqual(untouched);
  printTurns(opened);
  return { opened, told, asked, shown, target: ended.target, run: ended.run };
}

/** What a person would notice: the status, the index as it lies there, HEAD, stash, configuration. */
async function fingerprint(opened: Stage): Promise<unknown> {
  const hash = async (name: string) =>
    createHash('sha256')
      .update(await readFile(path.join(opened.project, '.git', name)))
      .digest('hex');
  return {
    status: await opened.git('--no-optional-locks', 'status', '--porcelain', '--untracked-files=all'),
    index: await hash('index'),
    config: await hash('config'),
    head: await opened.git('rev-parse', '--symbolic-full-name', 'HEAD', 'main'),
    main: await opened.git('rev-parse', 'main'),
    stash: await opened.git('stash', 'list'),
  };
}

async function timed<Value>(what: string, act: () => Promise<Value>): Promise<Value> {
  const before = performance.now();
  const value = await act();
  process.stdout.write(`cpython ${what}: ${Math.round(performance.now() - before)} ms\n`);
  return value;
}

/** From one answer of the model to the next of the same role: what a turn costs besides the model. */
function printTurns(opened: Stage): void {
  for (const role of ['planner', 'coder', 'test', 'reviewer']) {
    const at = opened.books.filter((row) => row.key === keyOf(role)).map((row) => row.at);
    const gaps = at.slice(1).map((time, index) => time - (at[index] ?? time));
    process.stdout.write(`cpython turns of ${role}: ${gaps.join(', ')} ms\n`);
  }
}

/** What both protocols have in common. */
async function expectHonestResult({ opened, told, asked, shown, target, run }: Walk): Promise<void> {
  expect(asked.map((checkpoint) => checkpoint.kind)).toEqual(['plan', 'boundary', 'budget', 'merge']);
  expect(asked[1]?.paths).toEqual([ASKED]);
  expect(shown.get('boundary')).toContain(ASKED_CONTENT.trim());
  const coder = told.get('coder');
  expect(coder?.results[3]).toMatch(/decision generated/);
  expect(coder?.results[3]).toContain('make regen-keyword');
  expect(coder?.results[4]).toContain('tried');
  expect(coder?.notices).toContain(`The change to ${STRAY} was undone`);
  const violations = await opened.json<ViolationRow[]>(['violations']);
  expect(violations).toContainEqual(
    expect.objectContaining({ role: 'coder', path: 'Lib/keyword.py', decision: 'generated', detectedBy: 'tool' }),
  );
  expect(violations).toContainEqual(
    expect.objectContaining({ role: 'coder', path: STRAY, decision: 'out', detectedBy: 'snapshot' }),
  );
  // The role ran its own test, and so did verify, on the merged result.
  expect(told.get('test')?.results[1]).toMatch(/Ran 67 tests/);
  expect(shown.get('merge')).toMatch(/verify: passed[\s\S]*Ran 67 tests/);
  expect(shown.get('merge')).toContain('+    def __repr__(self):');
  expect(shown.get('merge')).not.toContain('acceptance command');
  const log = await opened.git('log', '--format=%an <%ae>%n%B', `main..${target}`);
  expect(log.match(/^Ada Example <ada@example.invalid>$/gm)?.length).toBeGreaterThanOrEqual(2);
  for (const role of ['coder', 'test']) expect(log).toContain(`Agent-Role: ${role}`);
  expect(log).toContain(`Orchestrator-Run: ${run}`);
}

async function expectLanded({ opened, run, target }: Walk, paths: readonly string[]): Promise<void> {
  expect((await opened.git('diff', '--name-only', 'main', target)).split('\n')).toEqual(paths);
  await must(opened.cli(['land', run]));
  expect(await opened.git('rev-parse', 'main')).toBe(await opened.git('rev-parse', target));
  expect(await opened.git('status', '--porcelain', '--untracked-files=all')).toBe('');
  expect(await readFile(path.join(opened.project, 'Lib/textwrap.py'), 'utf8')).toContain('def __repr__(self):');
  const report = await opened.json<{ rows: { role: string; requests: number }[] }>(['report', '--by', 'role']);
  for (const role of ['planner', 'coder', 'test', 'reviewer']) {
    const requests = opened.books.filter((row) => row.key === keyOf(role)).length;
    expect(report.rows.find((row) => row.role === role)?.requests).toBe(requests);
  }
  await must(opened.cli(['stop']));
  expect((await opened.cli(['status'])).code).toBe(6);
}

it('walks through CPython over Anthropic Messages; what the human refuses stays out', async () => {
  const walked = await walk('anthropic', (checkpoint) => ['reject', checkpoint.id, '--reason', 'No C in this change.']);
  await expectHonestResult(walked);
  expect(walked.told.get('coder')?.results[2]).toContain('No C in this change.');
  await expectLanded(walked, [TOUCHED_TEST, 'Lib/textwrap.py']);
});

it('walks through CPython over Chat Completions; what the human allows arrives', async () => {
  const walked = await walk('openai-chat', (checkpoint) => ['approve', checkpoint.id]);
  await expectHonestResult(walked);
  expect(walked.shown.get('merge')).toContain(ASKED);
  expect(`${await walked.opened.git('show', `${walked.target}:${ASKED}`)}\n`).toBe(ASKED_CONTENT);
  await expectLanded(walked, [TOUCHED_TEST, 'Lib/textwrap.py', ASKED]);
});
