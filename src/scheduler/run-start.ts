import { cp, mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { RunRequest } from '../api/backend.ts';
import { OrchestratorError } from '../domain/errors.ts';
import { newRunId, type ObjectId, type RoleName, type RunId, taskId, ZERO_OBJECT_ID } from '../domain/ids.ts';
import type { Manifest, Run, Task } from '../domain/run.ts';
import { PLAN_TASK } from '../domain/run.ts';
import type { PolicySet } from '../policy/policy.ts';
import { eventWrite } from '../store/events.ts';
import { commit, type Engine } from './engine.ts';
import { inventoryNote } from './inventory.ts';
import { runWrite, taskWrite } from './records.ts';

/** Records a run with its manifest; nothing is started here. `notes` are what the user should know. */
export async function recordRun(engine: Engine, request: RunRequest): Promise<{ run: Run; notes: string[] }> {
  if (request.request.trim() === '')
    throw new OrchestratorError('usage', 'the request is empty: orchestrator run "what should change"');
  const policies = engine.policies.active();
  const role = singleRole(policies, request.role);
  for (const name of role === undefined ? policies.global.pipeline : [role]) checkRole(engine, policies, name);
  const id = newRunId(engine.clock, engine.random);
  const base = await baseOf(engine, request);
  const manifest = await manifestOf(engine, { id, request, base: base.commit, policies, role });
  const run: Run = {
    id,
    state: 'queued',
    request: request.request,
    target: manifest.target.replace(/^refs\/heads\//, ''),
    createdAt: engine.clock.now(),
    manifest,
    activeMs: 0,
    allowances: 0,
  };
  await keepManifest(engine, manifest);
  await engine.user.importCommit(engine.git, base.commit);
  if (!(await engine.user.moveRef(`refs/orchestrator/${id}/base`, base.commit, ZERO_OBJECT_ID))) {
    throw new OrchestratorError('failed', `the ref refs/orchestrator/${id}/base exists already`);
  }
  await commit(engine.store, [
    runWrite(run),
    taskWrite(firstTask(run, role)),
    eventWrite({
      at: run.createdAt,
      type: 'run-recorded',
      run: id,
      data: { request: request.request, target: run.target, base: base.commit },
    }),
  ]);
  const inventory = await inventoryNote(engine, policies, manifest.baseTree);
  return { run, notes: [...base.notes, ...inventory] };
}

function firstTask(run: Run, role: RoleName | undefined): Task {
  const steps = [role ?? ('planner' as RoleName)];
  const plan = {
    title: run.request.split('\n')[0]?.slice(0, 120) ?? '',
    steps,
    expectedPaths: [],
    instructions: run.request,
    dependsOn: [],
  };
  return {
    run: run.id,
    id: role === undefined ? PLAN_TASK : taskId(1),
    state: 'queued',
    plan,
    round: 1,
    reviewRounds: 0,
    allowances: 0,
    after: [],
  };
}

async function baseOf(engine: Engine, request: RunRequest): Promise<{ commit: ObjectId; notes: string[] }> {
  if (request.withWip)
    return {
      commit: await engine.user.captureWorkInProgress(engine.git),
      notes: ['uncommitted work is taken along as the base'],
    };
  const dirty = await engine.user.dirtyPaths();
  const notes =
    dirty.length === 0
      ? []
      : [
          `${dirty.length} uncommitted ${dirty.length === 1 ? 'path is' : 'paths are'} left out (--with-wip takes them along)`,
        ];
  if (request.base === undefined) return { commit: (await engine.user.head()).commit, notes };
  const commitId = await engine.user.resolve(request.base);
  if (commitId === undefined) throw new OrchestratorError('usage', `--base ${request.base}: no such commit`);
  return { commit: commitId, notes };
}

async function manifestOf(
  engine: Engine,
  options: { id: RunId; request: RunRequest; base: ObjectId; policies: PolicySet; role: RoleName | undefined },
): Promise<Manifest> {
  const { id, request, base, policies, role } = options;
  const target = targetRef(request.target ?? `orchestrator/${id}`);
  const models = Object.fromEntries(
    [...policies.roles.values()].map((policy) => [
      policy.role,
      { protocol: policy.model.protocol, id: policy.model.id ?? '' },
    ]),
  );
  return {
    run: id,
    request: request.request,
    createdAt: engine.clock.now(),
    baseCommit: base,
    baseTree: await engine.git.treeOf(base),
    target,
    targetCommit: (await engine.user.resolve(target)) ?? ZERO_OBJECT_ID,
    policyDigest: policies.digest,
    author: request.author,
    pipeline: policies.global.pipeline,
    models,
    baseUrl: policies.global.gateway.baseUrl ?? '',
    limits: policies.global.limits,
    versions: engine.versions,
    ...(role === undefined ? {} : { singleRole: role }),
    dryRun: request.dryRun,
    withWip: request.withWip,
  };
}

/** The manifest and a copy of the policies the run began with: its steps keep to them whatever is edited later. */
async function keepManifest(engine: Engine, manifest: Manifest): Promise<void> {
  const directory = path.join(engine.paths.runs, manifest.run);
  await mkdir(path.join(directory, 'agents'), { recursive: true, mode: 0o700 });
  await mkdir(path.join(directory, 'staging'), { recursive: true, mode: 0o700 });
  await cp(engine.paths.policies, path.join(directory, 'policies'), { recursive: true });
  await writeFile(path.join(directory, 'manifest.json'), `${JSON.stringify(manifest, null, 2)}\n`, { mode: 0o600 });
}

function singleRole(policies: PolicySet, wanted: string | undefined): RoleName | undefined {
  if (wanted === undefined) return undefined;
  const found = [...policies.roles.values()].find(
    (policy) => policy.role === wanted || policy.aliases.includes(wanted),
  );
  if (found !== undefined) return found.role;
  throw new OrchestratorError(
    'usage',
    `no role ${wanted}; policies/roles/ has ${[...policies.roles.keys()].join(', ')}`,
  );
}

function checkRole(engine: Engine, policies: PolicySet, name: RoleName): void {
  const policy = policies.roles.get(name);
  if (policy === undefined)
    throw new OrchestratorError(
      'configuration',
      `the pipeline names ${name}, but policies/roles/${name}.yaml is missing`,
    );
  engine.policies.key(policy);
}

function targetRef(name: string): string {
  const ref = name.startsWith('refs/heads/') ? name : `refs/heads/${name}`;
  const wrong = /(^|\/)[.-]|\.\.|[\s~^:?*[\\\x00-\x1f\x7f]|@\{|\/\/|\/$|\.lock($|\/)|\.$/.test(ref);
  if (wrong)
    throw new OrchestratorError('usage', `--target ${JSON.stringify(name)} is not a branch name that git allows`);
  return ref;
}
