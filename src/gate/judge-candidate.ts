import { type ObjectId, ZERO_OBJECT_ID } from '../domain/ids.ts';
import { pathFromBytes, type RepoPath } from '../domain/path.ts';
import type { StoreGit } from '../git/git.ts';
import { judgeChanges } from '../policy/judge.ts';
import type { Decider } from '../policy/policy.ts';
import type { GateVerdict, MergeCandidate, StepCommit } from './gate.ts';
import { accountForHistory } from './history.ts';
import { type JudgedStep, judgeMerge, structural } from './judge.ts';

/** Gathers what judgeMerge needs from the store; whatever git cannot say throws, and a throw is no approval. */
export async function judgeCandidate(git: StoreGit, decider: Decider, candidate: MergeCandidate): Promise<GateVerdict> {
  const against = comparedWith(candidate);
  const known = [...new Set([against, candidate.baseCommit])];
  const history = await accountForHistory({ git, result: candidate.result, known, steps: candidate.steps });
  const unsound = await git.check(candidate.result, known);
  const resultTree = await git.treeOf(candidate.result);
  const verdict = judgeMerge({
    stepChanges: await judgedSteps(git, decider, history.steps),
    resultChanges: await git.diff(await git.treeOf(against), resultTree),
    grants: candidate.grants,
    resultPaths: (await git.listTree(resultTree)).map((entry) => entry.path),
  });
  const refusals = [
    ...history.problems.map((problem) => structural('history', problem, WHOLE_RESULT)),
    ...unsound.map((problem) => structural('bad-object', problem, WHOLE_RESULT)),
    ...(verdict.accepted ? [] : verdict.refusals),
  ];
  return refusals.length > 0 ? { accepted: false, refusals } : verdict;
}

/** Refusals that are about no single path. */
const WHOLE_RESULT = '' as RepoPath;

function comparedWith(candidate: MergeCandidate): ObjectId {
  return candidate.targetCommit === ZERO_OBJECT_ID ? candidate.baseCommit : candidate.targetCommit;
}

async function judgedSteps(git: StoreGit, decider: Decider, steps: readonly StepCommit[]): Promise<JudgedStep[]> {
  const judged: JudgedStep[] = [];
  for (const step of steps) {
    const changes = await git.diff(await git.treeOf(step.parent), await git.treeOf(step.commit));
    const linkTarget = async (change: { newBlob: string }): Promise<string> =>
      pathFromBytes(await git.readBlob(change.newBlob as ObjectId));
    judged.push({ step, judged: await judgeChanges({ changes, role: step.role, decider, linkTarget }) });
  }
  return judged;
}
