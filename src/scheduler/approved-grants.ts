import { contentKey, type GrantRecord, grantWrites } from '../checkpoints/grants.ts';
import { violationResolutionWrites } from '../checkpoints/records.ts';
import type { ObjectId, RoleName, TaskId } from '../domain/ids.ts';
import type { RepoPath } from '../domain/path.ts';
import type { Write } from '../store/store.ts';
import type { AnswerContext } from './answer.ts';
import { readHistory } from './history.ts';
import { openViolations } from './violations.ts';

export interface ApprovedGrants {
  readonly writes: readonly Write[];
  /** The step's tree with the staged change applied. */
  readonly tree: ObjectId | undefined;
  readonly summary: string;
}

/** What approving a `boundary` or `violation` checkpoint allows: exactly the staged change, or access to the paths. */
export async function approvedGrants(context: AnswerContext): Promise<ApprovedGrants> {
  const { checkpoint } = context;
  switch (checkpoint.payload['scope']) {
    case 'staged':
      return applyStaged(context);
    case 'violations':
      return grantViolated(context);
    default:
      return grantAccess(context, checkpoint.binding.paths, []);
  }
}

async function applyStaged(context: AnswerContext): Promise<ApprovedGrants> {
  const { engine, checkpoint, record } = context;
  const step = record.steps.find(
    (each) => each.task === checkpoint.task && each.role === checkpoint.role && each.attempt === checkpoint.attempt,
  );
  const staged = checkpoint.payload['tree'] as ObjectId;
  const { paths } = checkpoint.binding;
  const history = step === undefined ? undefined : readHistory(engine.store, engine.checkpoints, step);
  const current = history?.tree ?? (await engine.git.treeOf(step?.start ?? context.run.manifest.baseCommit));
  const entries = new Map<RepoPath, { mode: string; blob: ObjectId } | undefined>();
  for (const path of paths) entries.set(path, await engine.git.entry(staged, path));
  const tree = await engine.git.withEntries(current, entries);
  const contents = (await engine.git.diff(current, tree)).map(
    (change): GrantRecord => ({
      ...parties(context),
      path: change.path,
      kind: 'content',
      blob: contentKey(change),
    }),
  );
  const granted = grantAccess(context, paths, contents);
  return { ...granted, tree, summary: `the staged change to ${paths.join(', ')} was applied exactly as shown` };
}

/** Access to the paths that the question named. */
function grantViolated(context: AnswerContext): ApprovedGrants {
  const { engine, checkpoint } = context;
  const { run, task, role, binding } = checkpoint;
  const granted = grantAccess(context, binding.paths, []);
  const at = engine.clock.now();
  const resolved = openViolations(engine.store, { run, task, role })
    .filter((violation) => binding.paths.includes(violation.path))
    .flatMap((violation) => violationResolutionWrites({ id: violation.id, resolution: 'approved', at }));
  return { ...granted, writes: [...granted.writes, ...resolved] };
}

function grantAccess(
  context: AnswerContext,
  paths: readonly RepoPath[],
  contents: readonly GrantRecord[],
): ApprovedGrants {
  const { engine, run, checkpoint } = context;
  const access = paths.map((path): GrantRecord => ({ ...parties(context), path, kind: 'access', blob: '' }));
  return {
    writes: grantWrites({
      run: run.id,
      checkpoint: checkpoint.id,
      at: engine.clock.now(),
      grants: [...access, ...contents],
    }),
    tree: undefined,
    summary: paths.length === 0 ? 'you may go on' : `you may write ${paths.join(', ')} in this task`,
  };
}

function parties(context: AnswerContext): { task: TaskId; role: RoleName } {
  const { checkpoint } = context;
  return { task: checkpoint.task as TaskId, role: checkpoint.role as RoleName };
}
