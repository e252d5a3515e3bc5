import type { Finding } from '../domain/checkpoint.ts';
import type { ObjectId } from '../domain/ids.ts';
import type { Write } from '../store/store.ts';
import { commitMessage } from './commit-message.ts';
import { grantedContentWrites } from './granted-content.ts';
import type { Session } from './session.ts';

export const WRITE_MODE = 'write-mode';

export interface StepResult {
  /** Undefined when the step changed nothing, or its write mode keeps nothing. */
  readonly commit: ObjectId | undefined;
  /** Added minus deleted lines. */
  readonly netLines: number;
  readonly remarks: readonly Finding[];
  /** Rows that belong to the commit. */
  readonly writes: readonly Write[];
}

/** One commit per step that changed something, authored by the user, with the role in trailers. */
export async function commitStep(session: Session, summary: string): Promise<StepResult> {
  const { engine, run, task, policy, step } = session;
  const start = step.start ?? run.manifest.baseCommit;
  const startTree = await engine.git.treeOf(start);
  if (startTree === session.acceptedTree) return { commit: undefined, netLines: 0, remarks: [], writes: [] };
  const files = await engine.git.numstat(startTree, session.acceptedTree);
  const netLines = files.reduce((sum, file) => sum + file.added - file.deleted, 0);
  const remarks = sizeRemarks(session, files);
  if (policy.writeMode === 'off' || policy.writeMode === 'dry-run') {
    const kept = await keptAsPatch(session, startTree);
    return { commit: undefined, netLines: 0, remarks: [...remarks, kept], writes: [] };
  }
  const commit = await engine.git.commit({
    tree: session.acceptedTree,
    parents: [start],
    message: commitMessage({
      run: run.id,
      task: task.id,
      role: step.role,
      model: run.manifest.models[policy.role]?.id ?? 'unknown',
      title: task.plan.title,
      summary,
    }),
    author: run.manifest.author,
    atMs: engine.clock.now(),
  });
  await engine.git.updateRef(`refs/orchestrator/${run.id}/${task.id}/head`, commit);
  const changes = await engine.git.diff(startTree, session.acceptedTree);
  return { commit, netLines, remarks, writes: grantedContentWrites(session, changes) };
}

function sizeRemarks(
  session: Session,
  files: readonly { readonly added: number; readonly deleted: number }[],
): readonly Finding[] {
  const { policy, task, step } = session;
  const lines = files.reduce((sum, file) => sum + file.added + file.deleted, 0);
  const { changedFiles, changedLines } = policy.limits;
  if (files.length <= changedFiles && lines <= changedLines) return [];
  const text = `${files.length} files and ${lines} lines changed by ${step.role} (limits ${changedFiles} and ${changedLines})`;
  return [{ kind: 'large-diff', text, task: task.id, role: step.role }];
}

/** `off` and `dry-run`: the changes were judged; what is left of them is a patch in staging. */
async function keptAsPatch(session: Session, startTree: ObjectId): Promise<Finding> {
  const { engine, workspace, policy, task, step } = session;
  const paths = (await engine.git.diff(startTree, session.acceptedTree)).map((change) => change.path);
  const name = `${task.id}-${step.role}-${step.attempt}-${policy.writeMode}`;
  const file =
    policy.writeMode === 'off'
      ? undefined
      : await workspace.savePatch({ from: startTree, to: session.acceptedTree, paths, name });
  const text =
    file === undefined
      ? `write_mode off: ${paths.length} changed paths of ${step.role} were judged and discarded`
      : `write_mode dry-run: ${paths.length} changed paths of ${step.role} are kept as ${file}`;
  return { kind: WRITE_MODE, text, task: task.id, role: step.role };
}
