import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import type { Reply } from '../../src/cli/demo/script.ts';
import { finish, quietRoles, reply, SRC_PROJECT, write } from './support/project.ts';
import { configure, scenes, showCheckpoint } from './support/scenes.ts';
import { follow, must, openStage, play, type ShownRun, type Stage, type StageOptions } from './support/stage.ts';

let stage: Stage | undefined;
afterEach(async () => {
  await stage?.close();
  stage = undefined;
});

const CORE = 'def add(a, b):\n    return b + a\n';

async function open(
  tables: Parameters<typeof scenes>[0],
  options: Partial<StageOptions> = {},
): Promise<{ stage: Stage; seen: string[] }> {
  const { script, seen } = scenes(tables);
  stage = await openStage({ files: SRC_PROJECT, script, ...options });
  return { stage, seen };
}

function coderOf(content: string): Record<string, Reply[]> {
  return { ...quietRoles(), coder: [write('src/pkg/core.py', content), finish()] };
}

async function stepsStarted(opened: Stage, run: string): Promise<string[]> {
  const { tasks } = await opened.json<ShownRun>(['show', run]);
  return tasks.flatMap((task) => task.steps.map((step) => `${task.id}/${step.role}#${step.attempt}`));
}

describe('write_mode', () => {
  it('direct merges without a question, asks when something asks; dry-run and off keep nothing', async () => {
    const { stage: opened } = await open(
      {
        'clean work': coderOf(CORE),
        'text work': {
          ...quietRoles(),
          coder: [write('src/pkg/core.py', CORE), write('README.md', 'hello\n'), finish()],
        },
        'dry work': coderOf(CORE),
        'thrown away': coderOf(CORE),
      },
      { start: false },
    );
    await configure(opened, 'roles/coder.yaml', [['write_mode: staged', 'write_mode: direct']]);
    await configure(opened, 'global.yaml', [['plan: ask', 'plan: auto']]);
    await must(opened.cli(['start']));
    const clean = await play(opened, 'clean work');
    expect(clean).toMatchObject({ asked: [], shown: { state: 'merged' } });
    expect(await opened.git('show', `${clean.shown.target}:src/pkg/core.py`)).toBe(CORE.trim());
    const text = await play(opened, 'text work');
    expect(text.asked.map((each) => each.kind)).toEqual(['merge']);

    await configure(opened, 'roles/coder.yaml', [['write_mode: direct', 'write_mode: dry-run']]);
    await must(opened.cli(['policy', 'reload']));
    const dry = await opened.cli(['run', 'dry work', '--wait', '--json']);
    expect(dry.code, dry.stderr).toBe(0);
    const kept = JSON.parse(dry.stdout) as ShownRun;
    expect(kept.reason).toContain('write_mode dry-run');
    const patch = /kept as (\S+\.patch)/.exec(kept.reason ?? '')?.[1] ?? '';
    expect(await readFile(patch, 'utf8')).toContain('+    return b + a');
    expect(await opened.git('branch', '--list', kept.target)).toBe('');

    await configure(opened, 'roles/coder.yaml', [['write_mode: dry-run', 'write_mode: off']]);
    await must(opened.cli(['policy', 'reload']));
    const off = await opened.cli(['run', 'thrown away', '--wait', '--json']);
    expect(off.code, off.stderr).toBe(0);
    expect((JSON.parse(off.stdout) as ShownRun).reason).toContain('discarded');
  });
});

describe('run', () => {
  it('--dry-run judges and verifies, keeps the diff, merges nothing', async () => {
    const { stage: opened } = await open({ change: coderOf(CORE) }, { start: false });
    await configure(opened, 'global.yaml', [['plan: ask', 'plan: auto']]);
    await must(opened.cli(['start']));
    const outcome = await opened.cli(['run', 'change', '--dry-run', '--wait', '--json']);
    expect(outcome.code, outcome.stderr).toBe(0);
    const run = JSON.parse(outcome.stdout) as ShownRun;
    expect(run.commit).toBeNull();
    expect(run.reason).toContain('verify passed');
    const file = /the diff is in (\S+)/.exec(run.reason ?? '')?.[1] ?? '';
    expect(await readFile(file, 'utf8')).toContain('+    return b + a');
    expect(await opened.git('branch', '--list', run.target)).toBe('');
  });

  it('--role runs one step without a plan; a reviewer alone says its verdict and merges nothing', async () => {
    const { stage: opened, seen } = await open({
      'swap the sum': coderOf(CORE),
      'look at it': {
        reviewer: [
          reply({
            name: 'submit_review',
            input: { verdict: 'request_changes', findings: [{ severity: 'high', text: 'add has no docstring' }] },
          }),
          finish(),
        ],
      },
    });
    const coder = await play(opened, 'swap the sum', { args: ['--role', 'worker'] });
    expect(coder.asked.map((each) => each.kind)).toEqual(['merge']);
    expect(coder.shown.state, coder.shown.reason ?? '').toBe('merged');
    expect(await stepsStarted(opened, coder.shown.run)).toEqual(['T1/coder#1']);
    expect(seen.join()).not.toContain('submit_plan');
    const reviewed = await opened.cli(['run', 'look at it', '--role', 'reviewer', '--wait', '--json']);
    expect(reviewed.code, reviewed.stderr).toBe(0);
    const review = JSON.parse(reviewed.stdout) as ShownRun;
    expect(review.reason).toMatch(/request_changes[\s\S]*add has no docstring/);
    expect((await opened.cli(['run', 'x', '--role', 'nobody'])).code).toBe(2);
  });

  it('two roles are enough', async () => {
    const { stage: opened } = await open({ small: coderOf(CORE) }, { init: ['--roles', 'planner,coder'] });
    const { shown } = await play(opened, 'small');
    expect(shown.state, shown.reason ?? '').toBe('merged');
    expect(await stepsStarted(opened, shown.run)).toEqual(['T1/coder#1']);
  });

  it('--base, --with-wip and --target choose where it starts and where it goes', async () => {
    const { stage: opened } = await open({ work: coderOf(CORE), other: coderOf(CORE) });
    const first = await opened.git('rev-parse', 'HEAD');
    await opened.git('commit', '-q', '--allow-empty', '-m', 'second');
    await opened.git('branch', 'topic');
    await writeFile(path.join(opened.project, 'src/pkg/util.py'), 'ONE = 1\n');
    const left = await opened.cli(['run', 'work', '--base', 'HEAD~1', '--role', 'coder']);
    expect(left.stderr).toContain('1 uncommitted path is left out');
    const [run = ''] = /r-\S+/.exec(left.stdout) ?? [];
    const old = await follow(opened, run);
    expect(await opened.git('merge-base', old.shown.target, 'main')).toBe(first);
    expect(await opened.git('show', `${old.shown.target}:src/pkg/util.py`)).toContain('TWO');

    const wip = await play(opened, 'other', { args: ['--with-wip', '--role', 'coder'] });
    expect(wip.shown.state, wip.shown.reason ?? '').toBe('merged');
    expect(await opened.git('show', `${wip.shown.target}:src/pkg/util.py`)).toBe('ONE = 1');
    expect(await opened.git('status', '--porcelain')).toBe('M src/pkg/util.py');

    const topic = await play(opened, 'work', { args: ['--target', 'topic', '--role', 'coder'] });
    expect(topic.shown).toMatchObject({ state: 'merged', target: 'topic' });
    expect(await opened.git('log', '--format=%s', '-1', 'topic^')).toBe('second');
    expect((await opened.cli(['run', 'work', '--base', 'nowhere'])).code).toBe(2);
    expect((await opened.cli(['run', 'work', '--target', 'a..b'])).code).toBe(2);
  });

  it('a target that is checked out is left to land', async () => {
    const { stage: opened } = await open({ work: coderOf(CORE) });
    const before = await opened.git('rev-parse', 'main');
    const { run } = await opened.json<{ run: string }>(['run', 'work', '--role', 'coder', '--target', 'main']);
    let shown = await opened.json<ShownRun>(['show', run]);
    const deadline = Date.now() + 60_000;
    while (!(shown.state === 'ready' && shown.reason !== null) && Date.now() < deadline) {
      const [pending] = await opened.json<{ id: string; kind: string }[]>(['checkpoints']);
      if (pending !== undefined) {
        const said = await must(opened.cli(['approve', pending.id]));
        expect(said.stdout).toContain('orchestrator land');
      }
      shown = await opened.json<ShownRun>(['show', run]);
    }
    expect(shown.reason).toContain('orchestrator land');
    expect(await opened.git('rev-parse', 'main')).toBe(before);
    await must(opened.cli(['land', run]));
    expect((await opened.json<ShownRun>(['show', run])).state).toBe('merged');
    expect(await opened.git('show', 'main:src/pkg/core.py')).toBe(CORE.trim());
    expect(await opened.git('status', '--porcelain')).toBe('');
  });
});

describe('steering', () => {
  it('cancel stops the agent and voids the question; retry and resume go on from what there is', async () => {
    const { stage: opened } = await open({
      slow: { ...quietRoles(), coder: [{ ...write('src/pkg/core.py', CORE), delayMs: 30_000 }, finish()] },
      asked: coderOf(CORE),
      twice: {
        ...quietRoles(),
        'coder#1': [{ text: 'no', status: 400 }],
        'coder#2': [{ text: 'no', status: 400 }],
        'coder#3': [write('src/pkg/core.py', CORE), finish()],
      },
    });
    const { run } = await opened.json<{ run: string }>(['run', 'slow', '--role', 'coder']);
    await must(opened.cli(['cancel', run]));
    const cancelled = await opened.json<ShownRun>(['show', run]);
    expect(cancelled).toMatchObject({ state: 'cancelled', tasks: [{ state: 'cancelled' }] });
    expect((await opened.cli(['cancel', run])).code).toBe(5);

    const { shown } = await play(opened, 'asked', { answer: () => undefined });
    await must(opened.cli(['cancel', shown.run]));
    expect(await opened.json(['checkpoints'])).toEqual([]);
    await must(opened.cli(['resume', shown.run]));
    const resumed = await follow(opened, shown.run);
    expect(resumed.shown.state, resumed.shown.reason ?? '').toBe('merged');

    const failed = await play(opened, 'twice');
    expect(failed.shown).toMatchObject({ state: 'failed', tasks: [{ state: 'failed' }] });
    await must(opened.cli(['retry', `${failed.shown.run}/T1`]));
    const retried = await follow(opened, failed.shown.run);
    expect(retried.shown.state).toBe('failed');
    await must(opened.cli(['resume', failed.shown.run]));
    const third = await follow(opened, failed.shown.run);
    expect(third.shown.state, third.shown.reason ?? '').toBe('merged');
    expect((await opened.cli(['retry', `${failed.shown.run}/T1`])).code).toBe(5);
    expect((await opened.cli(['resume', 'r-nothing'])).code).toBe(2);
  });

  it('run --wait ends with what happened: 3 at a question, 0 merged, 1 failed, 5 refused by the gate', async () => {
    const { stage: opened } = await open(
      {
        asks: coderOf(CORE),
        breaks: { ...quietRoles(), coder: [{ text: 'no', status: 400 }] },
        merges: coderOf(CORE),
        collides: { ...quietRoles(), coder: [write('src/pkg/CORE.py', CORE), finish()] },
        costs: { ...quietRoles(), coder: [write('src/pkg/core.py', CORE), finish()] },
      },
      { start: false },
    );
    await configure(opened, 'global.yaml', [['plan: ask', 'plan: auto']]);
    await must(opened.cli(['start']));
    const waits = await opened.cli(['run', 'asks', '--wait', '--json']);
    expect(waits.code, waits.stderr).toBe(3);
    const waiting = JSON.parse(waits.stdout) as ShownRun;
    expect(waiting.state).toBe('ready');
    await must(opened.cli(['cancel', waiting.run]));
    expect((await opened.cli(['run', 'breaks', '--wait'])).code).toBe(1);
    await configure(opened, 'roles/coder.yaml', [['write_mode: staged', 'write_mode: direct']]);
    await must(opened.cli(['policy', 'reload']));
    const merged = await opened.cli(['run', 'merges', '--wait']);
    expect(merged.code, merged.stderr).toBe(0);
    const refused = await opened.cli(['run', 'collides', '--wait']);
    expect(refused.code, refused.stdout).toBe(5);
    expect(refused.stdout).toContain('the gate refused');
    await configure(opened, 'roles/coder.yaml', [['task: 200k', 'task: 10']]);
    await must(opened.cli(['policy', 'reload']));
    const spent = await opened.cli(['run', 'costs', '--wait', '--json']);
    expect(spent.code).toBe(3);
    const [budget] = await opened.json<{ id: string; kind: string }[]>(['checkpoints']);
    expect(budget?.kind).toBe('budget');
    expect((await showCheckpoint(opened, String(budget?.id))).body).toContain('--tokens');
    await must(opened.cli(['reject', String(budget?.id), '--reason', 'enough']));
    expect((await opened.json<ShownRun>(['show', (JSON.parse(spent.stdout) as ShownRun).run])).state).toBe(
      'budget_exhausted',
    );
  });
});
