import { afterEach, describe, expect, it } from 'vitest';
import { command, finish, plan, quietRoles, reply, SRC_PROJECT, write } from './support/project.ts';
import { ANY_COMMAND, configure, type ShownCheckpoint, scenes, showCheckpoint } from './support/scenes.ts';
import { type Answerer, approveAll, must, openStage, play, type Stage } from './support/stage.ts';

let stage: Stage | undefined;
afterEach(async () => {
  await stage?.close();
  stage = undefined;
});

const HONEST = 'def add(a, b):\n    return b + a\n';
const PYPROJECT = '[project]\nname = "pkg"\nversion = "2"\n';

/** Opens a stage with these scenes; the coder may run any command. */
async function open(
  tables: Parameters<typeof scenes>[0],
  global: Parameters<typeof configure>[2] = [],
): Promise<{ stage: Stage; seen: string[] }> {
  const { script, seen } = scenes(tables);
  const opened = await openStage({ files: { ...SRC_PROJECT, 'README.md': 'pkg\n' }, start: false, script });
  stage = opened;
  await configure(opened, 'roles/coder.yaml', [ANY_COMMAND]);
  await configure(opened, 'global.yaml', global);
  await must(opened.cli(['start']));
  return { stage: opened, seen };
}

/** Keeps what `show` says about each checkpoint; rejects the kinds named, approves the rest. */
function watching(opened: Stage, reject: Readonly<Record<string, string>> = {}) {
  const shown: ShownCheckpoint[] = [];
  const answer: Answerer = async (checkpoint) => {
    shown.push(await showCheckpoint(opened, checkpoint.id));
    const reason = reject[checkpoint.kind];
    return reason === undefined ? approveAll(checkpoint) : ['reject', checkpoint.id, '--reason', reason];
  };
  return { shown, answer };
}

describe('plan', () => {
  it('rejected: the run is rejected, and no role worked', async () => {
    const { stage: opened } = await open({
      plain: { ...quietRoles(), coder: [write('src/pkg/core.py', HONEST), finish()] },
    });
    const { answer, shown: asked } = watching(opened, { plan: 'too big' });
    const { shown } = await play(opened, 'plain work', { answer });
    expect(shown).toMatchObject({ state: 'rejected', commit: null });
    expect(shown.reason).toContain('too big');
    expect(shown.tasks).toMatchObject([{ state: 'rejected', steps: [] }]);
    expect(asked[0]?.body).toContain('Estimate');
    expect(opened.books.every((row) => row.key.includes('planner'))).toBe(true);
  });

  it('auto: a plan in the lanes starts by itself, one outside every boundary asks', async () => {
    const coder = [write('src/pkg/core.py', HONEST), finish()];
    const planned = (...expected: string[]) => ({
      ...quietRoles(),
      planner: [plan({ title: 'the task', steps: ['coder'], expected_paths: expected }), finish()],
      coder,
    });
    const { stage: opened } = await open(
      { inside: planned('src/pkg/*.py', 'README.md'), outside: planned('src/pkg/core.py', 'tests/test_core.py') },
      [['plan: ask', 'plan: auto']],
    );
    const inside = await play(opened, 'inside');
    expect(inside.asked.map((checkpoint) => checkpoint.kind)).toEqual(['merge']);
    expect(inside.shown.state).toBe('merged');
    const { answer, shown } = watching(opened);
    const outside = await play(opened, 'outside', { answer });
    expect(outside.asked.map((checkpoint) => checkpoint.kind)).toEqual(['plan', 'merge']);
    expect(shown[0]?.body).toMatch(/outside every boundary[\s\S]*T1: tests\/test_core\.py/);
    expect(shown[0]?.body).not.toContain('T1: src/pkg/core.py');
    expect(outside.shown.state).toBe('merged');
  });
});

describe('boundary', () => {
  const both = reply(
    { name: 'write_file', input: { path: 'src/pkg/core.py', content: HONEST } },
    { name: 'write_file', input: { path: 'pyproject.toml', content: PYPROJECT } },
  );

  it('by a tool: exactly the approved write happens, after a rejection the reason reaches the model', async () => {
    const roles = { ...quietRoles(), coder: [both, write('README.md', 'pkg 2\n'), finish()] };
    const { stage: opened, seen } = await open({ granted: roles, refused: roles });
    const granted = watching(opened);
    const first = await play(opened, 'granted', { answer: granted.answer });
    expect(first.shown.state, first.shown.reason ?? '').toBe('merged');
    expect(first.asked.map((each) => [each.kind, ...each.paths.toSorted()])).toEqual([
      ['plan'],
      ['boundary', 'pyproject.toml'],
      ['merge', 'README.md', 'pyproject.toml', 'src/pkg/core.py'],
    ]);
    const merge = granted.shown.at(-1)?.body ?? '';
    expect(merge).toMatch(/consents to these protected paths:[\s\S]*README\.md \(ask/);
    expect(merge).toMatch(/consents to these protected paths:[\s\S]*pyproject\.toml \(ask/);
    const { target } = first.shown;
    expect(await opened.git('show', `${target}:pyproject.toml`)).toBe(PYPROJECT.trim());
    expect(await opened.git('show', `${target}:src/pkg/core.py`)).toBe(HONEST.trim());
    expect(await opened.git('show', `${target}:README.md`)).toBe('pkg 2');

    const refused = await play(opened, 'refused', { answer: watching(opened, { boundary: 'keep version 1' }).answer });
    expect(refused.shown.state, refused.shown.reason ?? '').toBe('merged');
    expect(seen.filter((messages) => messages.includes('keep version 1')).length).toBeGreaterThan(0);
    expect(await opened.git('diff', '--name-only', 'main', refused.shown.target)).toBe('README.md\nsrc/pkg/core.py');
  });

  it('by request_access: granted for the task without a second question, refused with the reason', async () => {
    const ask = reply({ name: 'request_access', input: { paths: ['scripts/a.py'], reason: 'a helper is missing' } });
    const roles = {
      ...quietRoles(),
      coder: [ask, write('scripts/a.py', 'A = 1\n'), write('src/pkg/core.py', HONEST), finish()],
    };
    const ended = { ...quietRoles(), coder: [ask, write('src/pkg/core.py', HONEST), finish()] };
    const { stage: opened, seen } = await open({ granted: roles, refused: ended });
    const first = watching(opened);
    const granted = await play(opened, 'granted', { answer: first.answer });
    expect(granted.asked.map((each) => each.kind)).toEqual(['plan', 'boundary', 'merge']);
    expect(first.shown[1]?.body).toContain('a helper is missing');
    expect(await opened.git('show', `${granted.shown.target}:scripts/a.py`)).toBe('A = 1');
    const second = watching(opened, { boundary: 'no helpers please' });
    const refused = await play(opened, 'refused', { answer: second.answer });
    expect(refused.asked.map((each) => each.kind)).toEqual(['plan', 'boundary', 'merge']);
    expect(seen.some((messages) => messages.includes('no helpers please'))).toBe(true);
    expect(await opened.git('diff', '--name-only', 'main', refused.shown.target)).toBe('src/pkg/core.py');
  });

  it('by effect: undone and shown exactly, applied exactly on approval, discarded and told on rejection', async () => {
    const roles = {
      ...quietRoles(),
      coder: [
        command('mkdir -p scripts && printf "A = 1\\n" > scripts/a.py && sed -i s/1/2/ pyproject.toml && echo written'),
        command('ls scripts 2>&1; cat pyproject.toml; echo looked'),
        write('src/pkg/core.py', HONEST),
        finish(),
      ],
    };
    const { stage: opened, seen } = await open({ granted: roles, refused: roles });
    const first = watching(opened);
    const granted = await play(opened, 'granted', { answer: first.answer });
    expect(granted.shown.state, granted.shown.reason ?? '').toBe('merged');
    const boundary = first.shown.find((each) => each.kind === 'boundary');
    expect(boundary?.paths.toSorted()).toEqual(['pyproject.toml', 'scripts/a.py']);
    expect(boundary?.diff).toContain('+A = 1');
    expect(boundary?.diff).toContain('-version = "1"\n+version = "2"');
    expect(await opened.git('show', `${granted.shown.target}:pyproject.toml`)).toBe(PYPROJECT.trim());
    expect(await opened.git('show', `${granted.shown.target}:scripts/a.py`)).toBe('A = 1');
    const before = seen.length;
    const refused = await play(opened, 'refused', { answer: watching(opened, { boundary: 'leave those' }).answer });
    expect(refused.shown.state, refused.shown.reason ?? '').toBe('merged');
    const told = seen.slice(before).join();
    expect(told).toContain('leave those');
    expect(told).toMatch(/No such file[\s\S]*version = \\"1\\"[\s\S]*looked/);
    expect(await opened.git('diff', '--name-only', 'main', refused.shown.target)).toBe('src/pkg/core.py');
  });
});
