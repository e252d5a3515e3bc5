import { chmod, readFile } from 'node:fs/promises';
import path from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { tableScript } from '../../src/cli/demo/script.ts';
import { finish, quietRoles, SRC_PROJECT, write } from './support/project.ts';
import { scenes } from './support/scenes.ts';
import { approveAll, must, openStage, play, type ShownRun, type Stage } from './support/stage.ts';

let stage: Stage | undefined;
afterEach(async () => {
  await stage?.close();
  stage = undefined;
});

const CODER = [write('src/pkg/made.py', 'MADE = 1\n'), finish()];

describe('a run that has ended leaves no task open, also after a restart', () => {
  it('a dry run: its patch is kept, its reason stays', async () => {
    const running = await openStage({ files: SRC_PROJECT, script: tableScript({ ...quietRoles(), coder: CODER }) });
    stage = running;
    const { shown } = await play(running, 'Make it, dry.', { args: ['--dry-run'] });
    expect(shown).toMatchObject({ state: 'cancelled', commit: null, tasks: [{ id: 'T1', state: 'cancelled' }] });
    expect(shown.reason).toMatch(/^nothing was merged: a dry run/);
    const patch = path.join(running.state, 'runs', shown.run, 'staging/result.patch');
    expect(await readFile(patch, 'utf8')).toContain('+MADE = 1');
    await must(running.cli(['stop']));
    await must(running.cli(['start']));
    expect(await running.json<ShownRun>(['show', shown.run])).toEqual(shown);
    expect(await running.git('branch', '--list', 'orchestrator/*')).toBe('');
  });

  it('a run without a change is failed with its tasks; what was cancelled goes on from its plan', async () => {
    const { script } = scenes({
      idle: { ...quietRoles(), coder: [finish()] },
      busy: { ...quietRoles(), coder: CODER },
    });
    const running = await openStage({ files: SRC_PROJECT, script });
    stage = running;
    const idle = await play(running, 'idle');
    expect(idle.shown).toMatchObject({ state: 'failed', tasks: [{ id: 'T1', state: 'failed' }] });
    expect(idle.shown.reason).toContain('nothing to merge');

    const leaveMerge = (checkpoint: Parameters<typeof approveAll>[0]) =>
      checkpoint.kind === 'merge' ? undefined : approveAll(checkpoint);
    const { shown } = await play(running, 'busy', { answer: leaveMerge });
    await must(running.cli(['cancel', shown.run]));
    expect(await running.json<ShownRun>(['show', shown.run])).toMatchObject({
      state: 'cancelled',
      tasks: [{ id: 'T1', state: 'cancelled' }],
    });
    await must(running.cli(['resume', shown.run]));
    const plans = async () =>
      (await running.json<{ kind: string; run: string }[]>(['checkpoints', '--all'])).filter(
        ({ kind, run }) => kind === 'plan' && run === shown.run,
      );
    expect(await plans()).toHaveLength(1);
  });
});

describe('keys', () => {
  it('a shared key and a readable .env are told by start and report; an ordinary set-up is quiet', async () => {
    const running = await openStage({ files: SRC_PROJECT, script: tableScript(quietRoles()) });
    stage = running;
    const warnings = async () =>
      (await running.json<{ daemon: { warnings: string[] } }>(['status'])).daemon.warnings.join('\n');
    const notes = async () => (await running.json<{ notes: string[] }>(['report'])).notes.join('\n');
    expect(await warnings()).toBe('');
    expect(await notes()).toBe('');

    await must(running.cli(['stop']));
    const { env } = await running.json<{ env: string }>(['path']);
    await running.edit(path.relative(running.project, env), (text) =>
      text.replace(/^ORCH_KEY_TEST=.*$/m, /^ORCH_KEY_CODER=.*$/m.exec(text)?.[0].replace('CODER', 'TEST') ?? ''),
    );
    await chmod(env, 0o644);
    const refused = await running.cli(['start']);
    expect(refused.code).toBe(2);
    expect(refused.stderr).toContain('allow_shared_key');
    await running.edit('policies/global.yaml', (text) =>
      text.replace('allow_shared_key: false', 'allow_shared_key: true'),
    );
    await must(running.cli(['start']));
    expect(await warnings()).toMatch(/chmod 600/);
    expect(await warnings()).toMatch(/shared by coder, test/);
    expect(await notes()).toMatch(/shared by coder, test: their figures rest on local counters/);
  });
});
