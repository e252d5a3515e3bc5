import type { ObjectId } from '../domain/ids.ts';
import type { StoreGit } from '../git/git.ts';
import type { StepCommit } from './gate.ts';

export interface History {
  /** The given steps whose commits are new in the result. */
  readonly steps: readonly StepCommit[];
  /** Commits that are neither a step nor a clean merge; empty when all is accounted for. */
  readonly problems: readonly string[];
}

/** More new commits than this in one result are refused; a run's own limit is far below. */
const MOST_COMMITS = 2000;

/**
 * Accounts for every commit that the result adds to what is known (the target, the base): a commit of a step on the
 * parent it says, or a merge whose tree is exactly what git makes of its two parents, computed again here.
 */
export async function accountForHistory(options: {
  git: StoreGit;
  result: ObjectId;
  known: readonly ObjectId[];
  steps: readonly StepCommit[];
}): Promise<History> {
  const { git, known } = options;
  const stepOf = new Map(options.steps.map((step) => [step.commit, step]));
  const steps: StepCommit[] = [];
  const problems: string[] = [];
  const waiting = [options.result];
  const seen = new Set<ObjectId>();
  for (let commit = waiting.pop(); commit !== undefined; commit = waiting.pop()) {
    if (seen.has(commit) || (await isKnown(git, commit, known))) continue;
    seen.add(commit);
    if (seen.size > MOST_COMMITS) {
      problems.push(`more than ${MOST_COMMITS} new commits`);
      break;
    }
    const parents = await git.parentsOf(commit);
    const step = stepOf.get(commit);
    const problem = step === undefined ? await mergeProblem(git, commit, parents) : stepProblem(step, parents);
    if (problem !== undefined) problems.push(problem);
    if (step !== undefined) steps.push(step);
    waiting.push(...parents);
  }
  return { steps, problems };
}

async function isKnown(git: StoreGit, commit: ObjectId, known: readonly ObjectId[]): Promise<boolean> {
  for (const tip of known) {
    if (await git.isAncestor(commit, tip)) return true;
  }
  return false;
}

function stepProblem(step: StepCommit, parents: readonly ObjectId[]): string | undefined {
  if (parents.length === 1 && parents[0] === step.parent) return undefined;
  return `commit ${step.commit} of ${step.task}/${step.role} does not stand on ${step.parent}`;
}

async function mergeProblem(
  git: StoreGit,
  commit: ObjectId,
  parents: readonly ObjectId[],
): Promise<string | undefined> {
  const [ours, theirs] = parents;
  if (ours === undefined || theirs === undefined || parents.length !== 2) {
    return `commit ${commit} was made by no step of this run`;
  }
  const merged = await git.merge(ours, theirs);
  if (merged.clean && merged.tree === (await git.treeOf(commit))) return undefined;
  return `commit ${commit} is not what merging ${ours} and ${theirs} gives`;
}
