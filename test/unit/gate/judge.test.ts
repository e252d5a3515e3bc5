import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { contentKey } from '../../../src/checkpoints/grants.ts';
import type { Decision } from '../../../src/domain/decision.ts';
import type { ObjectId, RoleName, TaskId } from '../../../src/domain/ids.ts';
import type { RepoPath } from '../../../src/domain/path.ts';
import type { Grant, StepCommit } from '../../../src/gate/gate.ts';
import { judgeMerge } from '../../../src/gate/judge.ts';
import type { JudgedChange } from '../../../src/policy/policy.ts';

type Input = Parameters<typeof judgeMerge>[0];

const STEP: StepCommit = {
  task: 'T1' as TaskId,
  role: 'coder' as RoleName,
  commit: '1'.repeat(40) as ObjectId,
  parent: '2'.repeat(40) as ObjectId,
};

function change(path: string, changes: Partial<JudgedChange> = {}): JudgedChange {
  return {
    path: path as RepoPath,
    operation: 'modify',
    oldMode: '100644',
    newMode: '100644',
    oldBlob: 'a'.repeat(40),
    newBlob: 'b'.repeat(40),
    decision: 'write',
    rule: '**',
    origin: undefined,
    askClass: undefined,
    ...changes,
  };
}

const grantFor = (judged: JudgedChange, kind: Grant['kind'], task = 'T1'): Grant => ({
  task: task as TaskId,
  role: STEP.role,
  path: judged.path,
  kind,
  blob: kind === 'content' ? contentKey(judged) : '',
});

/** One step whose changes arrive in the result as they are. */
function oneStep(judged: readonly JudgedChange[], grants: readonly Grant[] = []): Input {
  return {
    stepChanges: [{ step: STEP, judged }],
    resultChanges: judged,
    grants,
    resultPaths: judged.filter(({ operation }) => operation !== 'delete').map(({ path }) => path),
  };
}

const reasons = (input: Input): string[] => {
  const verdict = judgeMerge(input);
  return verdict.accepted ? [] : verdict.refusals.map(({ path, reason }) => `${path}: ${reason}`);
};

describe('a step’s own diff', () => {
  const hardAsk = change('Modules/x.c', { decision: 'ask', askClass: 'hard' });
  const textAsk = change('Doc/x.rst', { decision: 'ask', askClass: 'text' });

  test('what the role may write is accepted, and nothing of it asks', () => {
    const verdict = judgeMerge(oneStep([change('lib/a.py')]));
    expect(verdict).toMatchObject({
      accepted: true,
      asks: [],
      paths: [{ path: 'lib/a.py', task: 'T1', role: 'coder' }],
    });
  });

  test('a text ask needs no grant, a hard one needs access or exactly its content; both are listed', () => {
    expect(judgeMerge(oneStep([textAsk]))).toMatchObject({ accepted: true, asks: [{ path: 'Doc/x.rst' }] });
    expect(reasons(oneStep([hardAsk]))).toEqual([expect.stringContaining('needs an approval')]);
    for (const kind of ['access', 'content'] as const) {
      const verdict = judgeMerge(oneStep([hardAsk, textAsk], [grantFor(hardAsk, kind)]));
      expect(verdict).toMatchObject({ accepted: true, asks: [{ path: 'Modules/x.c' }, { path: 'Doc/x.rst' }] });
    }
  });

  test('a grant counts only for its task, path and content', () => {
    const other = change('Modules/x.c', { newBlob: 'c'.repeat(40) });
    const wrong = [
      grantFor(hardAsk, 'access', 'T2'),
      grantFor(change('Modules/y.c'), 'access'),
      grantFor(other, 'content'),
      grantFor(change('Modules/x.c', { operation: 'delete' }), 'content'),
    ];
    for (const grant of wrong) expect(judgeMerge(oneStep([hardAsk], [grant])).accepted).toBe(false);
  });

  test.each(['deny', 'out'] as const)('%s needs a content grant; access is not enough', (decision) => {
    for (const operation of ['modify', 'delete'] as const) {
      const refused = change('tests/a.py', { decision, operation });
      expect(judgeMerge(oneStep([refused], [grantFor(refused, 'access')])).accepted).toBe(false);
      const granted = judgeMerge(oneStep([refused], [grantFor(refused, 'content')]));
      expect(granted).toMatchObject({ accepted: true, asks: [{ path: 'tests/a.py', decision }] });
    }
  });

  test.each(['never', 'generated'] as const)('%s is refused whatever was granted', (decision) => {
    const refused = change('policies/global.yaml', { decision });
    expect(judgeMerge(oneStep([refused], [grantFor(refused, 'access'), grantFor(refused, 'content')])).accepted).toBe(
      false,
    );
  });

  test.each([
    ['absolute-symlink', '120000'],
    ['escaping-symlink', '120000'],
    ['gitlink', '160000'],
    ['bad-mode', '100664'],
  ])('%s needs a content grant even where the role may write', (special, newMode) => {
    const odd = change('lib/odd', { special, newMode });
    expect(judgeMerge(oneStep([odd])).accepted).toBe(false);
    expect(judgeMerge(oneStep([odd], [grantFor(odd, 'access')])).accepted).toBe(false);
    expect(judgeMerge(oneStep([odd], [grantFor(odd, 'content')])).accepted).toBe(true);
  });

  test('a text that was approved does not come back as a symlink or a program with the same bytes', () => {
    const text = change('tests/a', { decision: 'deny' });
    for (const newMode of ['120000', '100755']) {
      expect(judgeMerge(oneStep([{ ...text, newMode }], [grantFor(text, 'content')])).accepted).toBe(false);
    }
    expect(judgeMerge(oneStep([text], [grantFor(text, 'content')])).accepted).toBe(true);
  });

  test('a change that a later step puts back is judged all the same', () => {
    const there = change('tests/a.py', { decision: 'deny' });
    const back = change('tests/a.py', { decision: 'write', oldBlob: there.newBlob, newBlob: there.oldBlob });
    const later = { ...STEP, role: 'test' as RoleName };
    const input = {
      ...oneStep([]),
      stepChanges: [
        { step: STEP, judged: [there] },
        { step: later, judged: [back] },
      ],
    };
    expect(reasons(input)).toHaveLength(1);
    expect(reasons({ ...input, stepChanges: [{ step: later, judged: [back] }] })).toEqual([]);
  });
});

describe('the result', () => {
  test('a path that no step accounts for is refused', () => {
    const written = oneStep([change('lib/a.py')]);
    const moved = { ...written, resultChanges: [change('prot/a.py')] };
    expect(reasons(moved)).toEqual(['prot/a.py: the merge changes this path, but no step accounts for it']);
    expect(reasons(written)).toEqual([]);
  });

  test('a path that only a content grant allows must arrive with that content', () => {
    const granted = change('tests/a.py', { decision: 'deny' });
    const input = oneStep([granted], [grantFor(granted, 'content')]);
    const mixed = { ...input, resultChanges: [change('tests/a.py', { newBlob: 'd'.repeat(40) })] };
    expect(reasons(mixed)).toEqual([expect.stringContaining('not the content that was approved')]);
    expect(reasons(input)).toEqual([]);
  });

  test('two tasks may merge into a content of their own where both may write', () => {
    const own = change('lib/a.py');
    const mixed = { ...oneStep([own]), resultChanges: [change('lib/a.py', { newBlob: 'd'.repeat(40) })] };
    expect(reasons(mixed)).toEqual([]);
  });

  test.each(['160000', '100664', '040000'])('mode %s in the result is refused', (newMode) => {
    const own = change('lib/a.py');
    expect(reasons({ ...oneStep([own]), resultChanges: [{ ...own, newMode }] })).toEqual([
      expect.stringContaining(newMode),
    ]);
  });

  test('names are judged on the whole result', () => {
    const fresh = change('lib/A.py', { operation: 'create' });
    const input = oneStep([fresh]);
    expect(reasons({ ...input, resultPaths: ['lib/A.py', 'lib/a.py'] as RepoPath[] })).toHaveLength(1);
    expect(reasons({ ...input, resultPaths: ['lib/A.py', 'lib/b.py'] as RepoPath[] })).toEqual([]);
  });
});

describe('I7: the verdict is monotone', () => {
  const decision = fc.constantFrom<Decision>('never', 'generated', 'deny', 'ask', 'write', 'out');
  const judged = fc
    .record({
      path: fc.constantFrom('a', 'b', 'A', 'd/c', 'd/.git'),
      operation: fc.constantFrom('create' as const, 'modify' as const, 'delete' as const),
      newBlob: fc.constantFrom('b'.repeat(40), 'c'.repeat(40)),
      newMode: fc.constantFrom('100644', '100644', '100755', '160000'),
      decision,
      askClass: fc.constantFrom('text' as const, 'hard' as const, undefined),
    })
    .map(({ path, ...rest }) => change(path, rest));
  const grants = fc.array(
    fc.record({
      task: fc.constantFrom('T1', 'T2') as unknown as fc.Arbitrary<TaskId>,
      role: fc.constant(STEP.role),
      path: fc.constantFrom('a', 'b', 'A', 'd/c') as unknown as fc.Arbitrary<RepoPath>,
      kind: fc.constantFrom('access' as const, 'content' as const),
      blob: fc.constantFrom('', 'b'.repeat(40), 'c'.repeat(40), `100755:${'b'.repeat(40)}`),
    }),
    { maxLength: 6 },
  );
  const inputs: fc.Arbitrary<Input> = fc
    .record({
      first: fc.array(judged, { maxLength: 3 }),
      second: fc.array(judged, { maxLength: 3 }),
      extra: fc.array(judged, { maxLength: 1 }),
      grants,
    })
    .map((parts) => {
      const resultChanges = [...parts.first, ...parts.second, ...parts.extra];
      return {
        stepChanges: [
          { step: STEP, judged: parts.first },
          { step: { ...STEP, task: 'T2' as TaskId }, judged: parts.second },
        ],
        resultChanges,
        grants: parts.grants,
        resultPaths: [...new Set(resultChanges.map(({ path }) => path))],
      };
    });
  const neverWidens = (before: Input, after: Input) => {
    if (!judgeMerge(before).accepted) expect(judgeMerge(after).accepted).toBe(false);
  };

  test('removing a grant never turns refuse into accept', () => {
    fc.assert(
      fc.property(inputs, fc.nat(), (input, index) => {
        neverWidens(input, {
          ...input,
          grants: input.grants.filter((_, at) => at !== index % (input.grants.length || 1)),
        });
      }),
      { numRuns: 3000 },
    );
  });

  test('a stricter decision for a path (a glob less) never does', () => {
    fc.assert(
      fc.property(inputs, decision, fc.constantFrom('a', 'b', 'A', 'd/c'), (input, stricter, path) => {
        const stepChanges = input.stepChanges.map(({ step, judged: changes }) => ({
          step,
          judged: changes.map((each) =>
            each.path === path && each.decision === 'write' ? { ...each, decision: stricter } : each,
          ),
        }));
        neverWidens(input, { ...input, stepChanges });
      }),
      { numRuns: 3000 },
    );
  });

  test('adding a path never does: to the result, to a step, or to both', () => {
    fc.assert(
      fc.property(inputs, judged, (input, template) => {
        const added = { ...template, path: 'new/path' as RepoPath };
        const withResult = {
          ...input,
          resultChanges: [...input.resultChanges, added],
          resultPaths: [...input.resultPaths, added.path],
        };
        const more = [{ step: STEP, judged: [added] }, ...input.stepChanges];
        neverWidens(input, withResult);
        neverWidens(input, { ...input, stepChanges: more });
        neverWidens(input, { ...withResult, stepChanges: more });
      }),
      { numRuns: 3000 },
    );
  });

  test('the generator reaches both verdicts', () => {
    const sample = fc.sample(inputs, 2000).map((input) => judgeMerge(input).accepted);
    expect(sample.filter(Boolean).length).toBeGreaterThan(20);
    expect(sample.filter((accepted) => !accepted).length).toBeGreaterThan(20);
  });
});
