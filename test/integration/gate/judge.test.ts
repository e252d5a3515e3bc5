import { execa } from 'execa';
import { expect, test } from 'vitest';
import { contentKey } from '../../../src/checkpoints/grants.ts';
import type { ObjectId, TaskId } from '../../../src/domain/ids.ts';
import type { RepoPath } from '../../../src/domain/path.ts';
import type { Grant, MergeCandidate } from '../../../src/gate/gate.ts';
import { mergeMessage, mergeTasks } from '../../../src/gate/merge-tasks.ts';
import { makeGate } from './gate-fixture.ts';
import { AT, AUTHOR, RUN } from './repository.ts';

const BODY = Array.from({ length: 30 }, (_, index) => `line ${index}`).join('\n');
const FILES = { 'lib/f1.ts': BODY, 'lib/f2.ts': 'two\n', 'tests/t.py': 'test\n', 'Modules/m.c': 'c\n' };

type Made = Awaited<ReturnType<typeof makeGate>>;

async function refusals({ gate }: Made, candidate: MergeCandidate): Promise<string[]> {
  const verdict = await gate.judge(candidate);
  return verdict.accepted
    ? []
    : verdict.refusals.map(({ path, special, decision }) => `${path} ${special ?? decision}`);
}

/** Merges onto the target as the scheduler does. */
async function mergedOnto(made: Made, targetCommit: ObjectId, steps: MergeCandidate['steps']): Promise<MergeCandidate> {
  const { result, conflict } = await mergeTasks({
    git: made.fixture.store,
    base: targetCommit,
    heads: steps.map(({ task, commit }) => ({ task, commit, title: 'x' })),
    author: AUTHOR,
    message: (head) => mergeMessage(RUN, head),
    atMs: AT,
  });
  expect(conflict).toBeUndefined();
  return made.candidate(steps, { targetCommit, result });
}

test('steps inside their roles’ boundaries are accepted; paths carry task and role', async () => {
  const made = await makeGate(FILES);
  const coder = await made.stepBy('coder', made.base, { 'lib/f2.ts': 'changed\n', 'Doc/x.rst': 'doc\n' });
  const tester = await made.stepBy('test', coder.commit, { 'tests/t.py': 'more\n' });
  const verdict = await made.gate.judge(made.candidate([coder, tester]));
  expect(verdict).toMatchObject({ accepted: true, asks: [{ path: 'Doc/x.rst', role: 'coder', task: 'T1' }] });
  expect(verdict.accepted && verdict.paths.map(({ path, role }) => `${role} ${path}`).sort()).toEqual([
    'coder Doc/x.rst',
    'coder lib/f2.ts',
    'test tests/t.py',
  ]);
});

test('L9: the target renamed a file into another directory; the clean merge carries the change there and is refused', async () => {
  const made = await makeGate(FILES);
  const step = await made.stepBy('coder', made.base, { 'lib/f1.ts': BODY.replace('line 3', 'changed') });
  await made.fixture.git('mv', 'lib/f2.ts', 'lib/f3.ts');
  const harmless = await made.fixture.save('renames another file');
  expect(await refusals(made, await mergedOnto(made, harmless, [step]))).toEqual([]);
  await made.fixture.write('prot/keep', '');
  await made.fixture.git('mv', 'lib/f1.ts', 'prot/f1.ts');
  const renamed = await made.fixture.save('renames the file into prot');
  const trap = await mergedOnto(made, renamed, [step]);
  const entry = await made.fixture.store.entry(await made.fixture.store.treeOf(trap.result), 'prot/f1.ts' as RepoPath);
  expect(String(await made.fixture.store.readBlob(entry?.blob as ObjectId))).toContain('changed');
  expect(await refusals(made, trap)).toEqual(['prot/f1.ts unexpected-path']);
});

test('denied, out of scope, never and generated are refused for the step’s own role, also when put back later', async () => {
  const made = await makeGate(FILES);
  const fine = await made.stepBy('coder', made.base, { 'lib/f2.ts': 'x\n' });
  expect(await refusals(made, made.candidate([fine]))).toEqual([]);
  const bad = { 'tests/t.py': 'x\n', 'other/x': 'x\n', 'policies/global.yaml': 'x\n', 'lib/made.py': 'x\n' };
  const step = await made.stepBy('coder', fine.commit, bad);
  const expected = ['lib/made.py generated', 'other/x out', 'policies/global.yaml never', 'tests/t.py deny'];
  expect((await refusals(made, made.candidate([fine, step]))).sort()).toEqual(expected);
  const back = await made.stepBy('coder', step.commit, {
    'tests/t.py': 'test\n',
    'other/x': undefined,
    'policies/global.yaml': undefined,
    'lib/made.py': undefined,
  });
  expect(new Set(await refusals(made, made.candidate([fine, step, back])))).toEqual(new Set(expected));
});

test('a content grant lets exactly that content through, access a hard ask', async () => {
  const made = await makeGate(FILES);
  const step = await made.stepBy('coder', made.base, { 'tests/t.py': 'agreed\n', 'Modules/m.c': 'int x;\n' });
  const tree = await made.fixture.store.treeOf(step.commit);
  const changes = await made.fixture.store.diff(await made.fixture.store.treeOf(made.base), tree);
  const denied = changes.find((change) => change.path === 'tests/t.py');
  const grant = (path: string, kind: Grant['kind'], blob = ''): Grant => ({
    ...{ task: 'T1' as TaskId, role: step.role, path: path as RepoPath, kind, blob },
  });
  const grants = [grant('tests/t.py', 'content', denied && contentKey(denied)), grant('Modules/m.c', 'access')];
  expect(await refusals(made, made.candidate([step], { grants }))).toEqual([]);
  expect(await refusals(made, made.candidate([step], { grants: grants.slice(0, 1) }))).toEqual(['Modules/m.c ask']);
  const other = await made.stepBy('coder', made.base, { 'tests/t.py': 'something else\n' });
  expect(await refusals(made, made.candidate([other], { grants }))).toEqual(['tests/t.py deny']);
});

test('links: inside is judged where it leads, absolute and escaping ones are refused', async () => {
  const made = await makeGate(FILES);
  const link = (text: string) => made.stepBy('coder', made.base, { 'lib/link': { mode: '120000', text } });
  expect(await refusals(made, made.candidate([await link('f2.ts')]))).toEqual([]);
  expect(await refusals(made, made.candidate([await link('../tests/t.py')]))).toEqual(['lib/link deny']);
  expect(await refusals(made, made.candidate([await link('/etc/passwd')]))).toEqual(['lib/link absolute-symlink']);
  expect(await refusals(made, made.candidate([await link('../../x')]))).toEqual(['lib/link escaping-symlink']);
});

test('gitlinks are refused', async () => {
  const made = await makeGate(FILES);
  const tree = await made.fixture.store.withEntries(
    await made.fixture.store.treeOf(made.base),
    new Map([['lib/sub' as RepoPath, { mode: '160000', blob: made.base }]]),
  );
  const commit = await made.fixture.store.commit({
    tree,
    parents: [made.base],
    message: 'x',
    author: AUTHOR,
    atMs: AT,
  });
  const fine = await made.stepBy('coder', made.base, { 'lib/sub': 'a file\n' });
  expect(await refusals(made, made.candidate([fine]))).toEqual([]);
  expect(await refusals(made, made.candidate([{ ...fine, commit }]))).toContain('lib/sub gitlink');
});

test('names that differ only by case or form from one in the base are refused', async () => {
  const made = await makeGate({ ...FILES, 'lib/caf\u00e9.py': '' });
  for (const name of ['lib/F2.ts', 'lib/cafe\u0301.py', 'Lib/x.py', 'lib/a. ']) {
    const step = await made.stepBy('coder', made.base, { [name]: 'x\n' });
    const found = await refusals(made, made.candidate([step]));
    expect(found.filter((line) => / (name-collision|trailing-dot-or-space)$/.test(line))).toHaveLength(1);
  }
  const control = await made.stepBy('coder', made.base, { 'lib/other.py': 'x\n' });
  expect(await refusals(made, made.candidate([control]))).toEqual([]);
});

test('crafted trees that git’s own tools accept are refused', async () => {
  const made = await makeGate(FILES);
  const { store } = made.fixture;
  const blob = await store.writeBlob(Buffer.from('x\n'));
  const makeTree = async (lines: string) => {
    const { stdout } = await execa('git', ['--git-dir', store.directory, 'mktree'], {
      input: lines,
      env: made.fixture.environment,
      extendEnv: false,
    });
    return stdout as ObjectId;
  };
  const commitOf = async (lines: string) => {
    const tree = await makeTree(lines);
    return store.commit({ tree, parents: [made.base], message: 'x', author: AUTHOR, atMs: AT });
  };
  const fine = await made.stepBy('coder', made.base, { 'lib/x': 'x\n' });
  for (const name of ['.git', 'GIT~1', '.g\u200cit']) {
    const lib = await makeTree(`100644 blob ${blob}\t${name}\n`);
    const commit = await commitOf(`040000 tree ${lib}\tlib\n`);
    expect(await refusals(made, made.candidate([{ ...fine, commit }]))).toContain(`lib/${name} git-alias`);
  }
  const twice = await makeTree(`100644 blob ${blob}\tx\n100644 blob ${blob}\tx\n`);
  const duplicate = await commitOf(`040000 tree ${twice}\tlib\n`);
  expect(await refusals(made, made.candidate([{ ...fine, commit: duplicate }]))).toContain(' bad-object');
});

test('every new commit must be a step on its parent or exactly what git makes of its parents', async () => {
  const made = await makeGate({ ...FILES, 'src/s.py': BODY });
  const { store } = made.fixture;
  const first = await made.stepBy('coder', made.base, { 'src/s.py': BODY.replace('line 2', 'first') });
  const second = await made.stepBy('coder', made.base, { 'src/s.py': BODY.replace('line 25', 'second') }, 'T2');
  const honest = await mergedOnto(made, made.base, [first, second]);
  expect(await refusals(made, honest)).toEqual([]);
  const forgedTree = await store.withEntries(
    await store.treeOf(honest.result),
    new Map([['src/s.py' as RepoPath, { mode: '100644', blob: await store.writeBlob(Buffer.from('evil\n')) }]]),
  );
  const parents = [first.commit, second.commit];
  const forged = await store.commit({ tree: forgedTree, parents, message: 'x', author: AUTHOR, atMs: AT });
  expect(await refusals(made, { ...honest, result: forged })).toEqual([' history']);
  expect(await refusals(made, { ...honest, steps: [first] })).toContain(' history');
  expect(await refusals(made, { ...honest, steps: [first, { ...second, parent: first.commit }] })).toContain(
    ' history',
  );
});

test('the step of a task that is not part of the result accounts for nothing in it', async () => {
  const made = await makeGate(FILES);
  const left = await made.stepBy('test', made.base, { 'tests/f1.ts': 'theirs\n' }, 'T2');
  const step = await made.stepBy('coder', made.base, { 'lib/f1.ts': BODY.replace('line 3', 'changed') });
  await made.fixture.git('mv', 'lib/f1.ts', 'tests/f1.ts');
  const renamed = await made.fixture.save('renames the file into tests');
  const trap = await mergedOnto(made, renamed, [step]);
  expect(await refusals(made, { ...trap, steps: [left, step] })).toEqual(['tests/f1.ts unexpected-path']);
  expect(await refusals(made, made.candidate([left, step]))).toEqual([]);
});
