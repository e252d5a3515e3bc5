import { OrchestratorError } from '../domain/errors.ts';
import type { ObjectId } from '../domain/ids.ts';
import { landRun } from '../gate/land.ts';
import { openUserRepository } from '../git/user-repository.ts';
import { eventWrite } from '../store/events.ts';
import { commit, type Engine } from './engine.ts';
import { mergedWrites } from './merge-finish.ts';
import { type RunRecord, readRun } from './records.ts';
import { verifyResult } from './verify.ts';

/** Brings a run's approved result into the branch that is checked out where `land` was called. */
export async function landResult(
  engine: Engine,
  request: { run: string; directory: string; squash: boolean; branch?: string },
): Promise<{ message: string; commit: string }> {
  const record = readRun(engine.store, request.run);
  if (record === undefined)
    throw new OrchestratorError('usage', `no run ${request.run}; \`orchestrator runs\` lists them`);
  const result = approvedResult(engine, record);
  const { run } = record;
  const environment = engine.userEnvironment;
  const user = await openUserRepository(request.directory, { environment, clock: engine.clock });
  if (user.commonDirectory !== engine.user.commonDirectory) {
    throw new OrchestratorError('usage', `${request.directory} is not a work tree of ${engine.user.root}`);
  }
  const landed = await landRun({
    user,
    git: engine.git,
    environment: definedOf(environment),
    run: run.id,
    title: run.request,
    result,
    base: run.manifest.baseCommit,
    squash: request.squash,
    author: run.manifest.author,
    atMs: engine.clock.now(),
    ...(request.branch === undefined ? {} : { branch: request.branch }),
    verify: async (commitId) => {
      const verification = await verifyResult(engine, { run, result: commitId, tasks: [] });
      return { ok: verification.result === 'passed' || verification.result === 'none', text: verification.text };
    },
  });
  await commit(engine.store, [
    ...(run.state === 'ready' ? mergedWrites(engine, record, landed.commit) : []),
    eventWrite({
      at: engine.clock.now(),
      type: 'run-landed',
      run: run.id,
      data: { ...landed, branch: landed.branch ?? null },
    }),
  ]);
  const where = landed.branch ?? 'HEAD (detached)';
  return { message: `${where} is at ${landed.commit.slice(0, 12)} (${landed.how}).`, commit: landed.commit };
}

function approvedResult(engine: Engine, record: RunRecord): ObjectId {
  const { run } = record;
  if (run.state === 'merged' && run.commit !== undefined) return run.commit;
  const approved = engine.checkpoints
    .list({ all: true, run: run.id })
    .filter((each) => each.kind === 'merge' && each.state === 'approved')
    .at(-1);
  if (run.state === 'ready' && approved !== undefined) return approved.payload['result'] as ObjectId;
  const advice = run.state === 'ready' ? 'its merge checkpoint waits: `orchestrator review`' : `it is ${run.state}`;
  throw new OrchestratorError('refused', `run ${run.id} cannot be landed: ${advice}`);
}

function definedOf(environment: Readonly<Record<string, string | undefined>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(environment).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );
}
