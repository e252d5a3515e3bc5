import { afterEach, describe, expect, it } from 'vitest';
import type { Reply } from '../../src/cli/demo/script.ts';
import { approveReview, command, finish, quietRoles, reply, SRC_PROJECT, write } from './support/project.ts';
import { ANY_COMMAND, configure, type ShownCheckpoint, scenes, showCheckpoint } from './support/scenes.ts';
import { type Answerer, approveAll, must, openStage, play, type Stage } from './support/stage.ts';

let stage: Stage | undefined;
afterEach(async () => {
  await stage?.close();
  stage = undefined;
});

const HONEST = [write('src/pkg/core.py', 'def add(a, b):\n    return b + a\n'), finish()];

async function open(
  tables: Parameters<typeof scenes>[0],
  options: { coder?: Parameters<typeof configure>[2]; global?: Parameters<typeof configure>[2] } = {},
): Promise<{ stage: Stage; seen: string[] }> {
  const { script, seen } = scenes(tables);
  const opened = await openStage({ files: SRC_PROJECT, start: false, script });
  stage = opened;
  await configure(opened, 'roles/coder.yaml', [ANY_COMMAND, ...(options.coder ?? [])]);
  await configure(opened, 'global.yaml', options.global ?? []);
  await must(opened.cli(['start']));
  return { stage: opened, seen };
}

/** Answers everything with yes, but `kind` with no. */
function rejecting(kind: string, reason: string): Answerer {
  return (checkpoint) =>
    checkpoint.kind === kind ? ['reject', checkpoint.id, '--reason', reason] : approveAll(checkpoint);
}

function writes(...paths: string[]): Reply {
  return reply(...paths.map((path) => ({ name: 'write_file', input: { path, content: 'X = 1\n' } })));
}

function coderOf(...replies: Reply[]): Record<string, Reply[]> {
  return { ...quietRoles(), coder: [...replies, ...HONEST] };
}

describe('violation', () => {
  const five = writes('tests/a.py', 'tests/b.py', '.mcp.json', 'src/pkg/x_pb2.py', 'elsewhere/x.py');

  it('approved: what was denied may be written, what nobody may write stays refused', async () => {
    const { stage: opened, seen } = await open({
      tries: coderOf(five, writes('tests/a.py', '.mcp.json', 'src/pkg/x_pb2.py', 'tests/other.py')),
    });
    const shown: ShownCheckpoint[] = [];
    const played = await play(opened, 'tries', {
      answer: async (checkpoint) => {
        shown.push(await showCheckpoint(opened, checkpoint.id));
        return approveAll(checkpoint);
      },
    });
    expect(played.asked.map((each) => each.kind)).toEqual(['plan', 'violation', 'merge']);
    // The question names exactly what it grants.
    expect(shown[1]?.paths.toSorted()).toEqual(['elsewhere/x.py', 'tests/a.py', 'tests/b.py']);
    expect(shown[1]?.body).toContain('.mcp.json');
    expect(played.shown.state, played.shown.reason ?? '').toBe('merged');
    expect(await opened.git('diff', '--name-only', 'main', played.shown.target)).toBe('src/pkg/core.py\ntests/a.py');
    expect(shown[2]?.body).toMatch(/consents to these protected paths:[\s\S]*tests\/a\.py \(deny/);
    const told = seen.at(-1) ?? '';
    expect(told).toMatch(/may not create \.mcp\.json \(decision never/);
    expect(told).toMatch(/may not create src\/pkg\/x_pb2\.py \(decision generated/);
    expect(told).toMatch(/may not create tests\/other\.py \(decision deny/);
  });

  it('by effect, rejected: the step goes on with the reason, and counts anew', async () => {
    const { stage: opened, seen } = await open({
      tries: coderOf(
        command('mkdir -p elsewhere; for n in 1 2 3 4 5; do echo > elsewhere/$n.py; done; echo tried'),
        writes('tests/a.py'),
      ),
    });
    const played = await play(opened, 'tries', { answer: rejecting('violation', 'tests are not yours') });
    expect(played.asked.map((each) => each.kind)).toEqual(['plan', 'violation', 'merge']);
    expect(played.shown.state, played.shown.reason ?? '').toBe('merged');
    expect(seen.some((messages) => messages.includes('tests are not yours'))).toBe(true);
    expect(await opened.git('diff', '--name-only', 'main', played.shown.target)).toBe('src/pkg/core.py');
  });
});

describe('stalled step', () => {
  const look = reply({ name: 'read_file', input: { path: 'src/pkg/core.py' } });
  const echo = (text: string): Reply => command(`echo ${text}`);

  it('approved: the same allowance again, and the work ends merged', async () => {
    const { stage: opened } = await open(
      {
        'no progress': coderOf(look, look, look, look),
        'the same calls': coderOf(...Array.from({ length: 5 }, () => command('date +%s%N'))),
        'many turns': coderOf(...['one', 'two', 'three', 'four', 'five', 'six'].map(echo)),
      },
      { coder: [['turns: 40', 'turns: 6']] },
    );
    const expected = [
      ['no progress', 'no_progress_rounds'],
      ['the same calls', 'identical_calls'],
      ['many turns', 'limit turns'],
    ] as const;
    for (const [request, limit] of expected) {
      const { asked, shown } = await play(opened, request);
      expect(asked.map((each) => each.kind)).toEqual(['plan', 'stalled', 'merge']);
      expect(asked[1]?.summary).toContain(limit);
      expect(shown.state, shown.reason ?? '').toBe('merged');
    }
  });

  it('rejected: the task is failed', async () => {
    const { stage: opened } = await open({ stuck: coderOf(look, look, look, look) });
    const { shown } = await play(opened, 'stuck', { answer: rejecting('stalled', 'give up') });
    expect(shown).toMatchObject({ state: 'failed', tasks: [{ state: 'failed', steps: [{ state: 'failed' }] }] });
    expect(shown.reason).toContain('give up');
  });
});

describe('review rounds', () => {
  const wants = reply({
    name: 'submit_review',
    input: { verdict: 'request_changes', findings: [{ path: 'src/pkg/core.py', severity: 'high', text: 'name it' }] },
  });
  const rounds = (last: Reply): Record<string, Reply[]> => ({
    ...quietRoles(['coder', 'reviewer']),
    'coder#1': HONEST,
    'coder#2': [write('src/pkg/core.py', 'def add(a, b):\n    return (b + a)\n'), finish()],
    'coder#3': [write('src/pkg/core.py', 'def add(a, b):\n    return (a + b)\n'), finish()],
    'reviewer#1': [wants, finish()],
    'reviewer#2': [wants, finish()],
    'reviewer#3': [last, finish()],
  });

  it('used up: approve gives them again, reject fails the task', async () => {
    const { stage: opened } = await open(
      { again: rounds(approveReview()), enough: rounds(wants) },
      { global: [['review_rounds: 2', 'review_rounds: 1']] },
    );
    const again = await play(opened, 'again');
    expect(again.asked.map((each) => each.kind)).toEqual(['plan', 'stalled', 'merge']);
    expect(again.shown.state, again.shown.reason ?? '').toBe('merged');
    expect(again.shown.tasks[0]?.steps.map((step) => `${step.role}#${step.attempt}`)).toEqual([
      ...['coder#1', 'reviewer#1', 'coder#2', 'reviewer#2', 'coder#3', 'reviewer#3'],
    ]);
    const enough = await play(opened, 'enough', { answer: rejecting('stalled', 'not like this') });
    expect(enough.shown.state).toBe('failed');
    expect(enough.shown.tasks[0]).toMatchObject({ state: 'failed' });
    expect(enough.shown.reason).toContain('not like this');
  });
});

describe('limits of the run', () => {
  const lines = (count: number): Reply => write('src/pkg/many.py', 'X = 1\n'.repeat(count));
  const twoCommits: Record<string, Reply[]> = {
    ...quietRoles(['coder', 'test', 'reviewer']),
    coder: HONEST,
    test: [write('tests/test_more.py', 'X = 1\n'), finish()],
  };

  it('ask once, go on with the same allowance again, and fail what is open on a rejection', async () => {
    const { stage: opened } = await open(
      {
        'commits approved': twoCommits,
        'commits rejected': twoCommits,
        'many lines': { ...quietRoles(['coder', 'reviewer']), coder: [lines(15), finish()] },
        'slow work': { ...quietRoles(['coder', 'reviewer']), coder: [{ ...lines(1), delayMs: 2500 }, finish()] },
      },
      { global: [['commits: 20', 'commits: 1']] },
    );
    const commits = await play(opened, 'commits approved');
    expect(commits.asked.map((each) => each.kind)).toEqual(['plan', 'stalled', 'merge']);
    expect(commits.asked[1]?.summary).toContain('2 commits');
    expect(commits.shown.state, commits.shown.reason ?? '').toBe('merged');

    const rejected = await play(opened, 'commits rejected', { answer: rejecting('stalled', 'too many') });
    expect(rejected.asked.map((each) => each.kind)).toEqual(['plan', 'stalled']);
    expect(rejected.shown.state).toBe('failed');
    expect(rejected.shown.reason).toContain('too many');

    await configure(opened, 'global.yaml', [
      ['commits: 1', 'commits: 20'],
      ['net_lines: 2000', 'net_lines: 10'],
    ]);
    await must(opened.cli(['policy', 'reload']));
    const net = await play(opened, 'many lines');
    expect(net.asked.map((each) => each.kind)).toEqual(['plan', 'stalled', 'merge']);
    expect(net.asked[1]?.summary).toContain('net_lines');
    expect(net.shown.state, net.shown.reason ?? '').toBe('merged');

    await configure(opened, 'global.yaml', [
      ['net_lines: 10', 'net_lines: 2000'],
      ['run_wall_clock: 4h', 'run_wall_clock: 2s'],
    ]);
    await must(opened.cli(['policy', 'reload']));
    const slow = await play(opened, 'slow work');
    expect(slow.asked.map((each) => each.kind)).toContain('stalled');
    expect(slow.asked.find((each) => each.kind === 'stalled')?.summary).toContain('run_wall_clock');
    expect(slow.shown.state, slow.shown.reason ?? '').toBe('merged');
  });
});
