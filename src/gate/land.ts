import { OrchestratorError } from '../domain/errors.ts';
import type { ObjectId } from '../domain/ids.ts';
import { ZERO_OBJECT_ID } from '../domain/ids.ts';
import type { RepoPath } from '../domain/path.ts';
import type { UserRepository } from '../git/git.ts';
import { branchRef } from './branch-name.ts';
import { type LandingCommit, type LandingInput, makeLandingCommit } from './landing-commit.ts';
import { overlappingPaths } from './overlap.ts';
import { existingPaths, fastForwardCheckout } from './work-tree.ts';

export interface LandRequest extends Omit<LandingInput, 'tip'> {
  /** Opened at the tree that `land` was called from. */
  readonly user: UserRepository;
  /** A branch to create or move instead of the checked-out one. */
  readonly branch?: string;
  /** The user's environment for the one git command that updates the tree (filters may need PATH and HOME). */
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Runs verify on a commit of the store; asked only for a combination that was never verified. */
  readonly verify: (commit: ObjectId) => Promise<{ readonly ok: boolean; readonly text: string }>;
}

export interface Landed {
  readonly commit: ObjectId;
  readonly how: 'fast-forward' | 'merge' | 'squash' | 'already-there';
  /** Short branch name, undefined for a detached HEAD. */
  readonly branch: string | undefined;
}

/**
 * Brings a run's result into the user's branch. Every refusal comes before the first change: with `refused`, branch,
 * index and files are as they were.
 */
export async function landRun(request: LandRequest): Promise<Landed> {
  const head = await request.user.head();
  const current = head.branch;
  const wanted = request.branch === undefined ? current : branchRef(request.branch);
  if (wanted === undefined || wanted === current) return landCheckout(request, head.commit, current);
  return landBranch(request, wanted);
}

async function landCheckout(request: LandRequest, tip: ObjectId, ref: string | undefined): Promise<Landed> {
  const { user, git, environment } = request;
  const branch = ref === undefined ? undefined : shortName(ref);
  const landing = await makeLandingCommit({ ...request, tip });
  if (landing.kind === 'contained') return { commit: tip, how: 'already-there', branch };
  const made = mustBeClean(request, landing, branch ?? 'HEAD');
  await refuseOverlap(request, tip, made);
  await mustVerify(request, made, branch ?? 'HEAD');
  await user.importCommit(git, made.commit);
  const forwarded = await fastForwardCheckout({ directory: user.root, commit: made.commit, environment });
  if (!forwarded.ok) {
    throw refused(`git would not update ${user.root}; nothing was changed.`, forwarded.reason.split('\n'));
  }
  return { commit: made.commit, how: howOf(request, made), branch };
}

async function landBranch(request: LandRequest, ref: string): Promise<Landed> {
  const { user, git } = request;
  const branch = shortName(ref);
  if ((await user.checkedOutBranches()).has(ref)) {
    throw refused(`${branch} is checked out in another work tree; nothing was changed, run land there.`);
  }
  const tip = await user.resolve(ref);
  const landing = await makeLandingCommit({ ...request, tip });
  if (landing.kind === 'contained') return { commit: tip ?? request.result, how: 'already-there', branch };
  const made = mustBeClean(request, landing, branch);
  await mustVerify(request, made, branch);
  await user.importCommit(git, made.commit);
  if (!(await user.moveRef(ref, made.commit, tip ?? ZERO_OBJECT_ID))) {
    throw refused(`${branch} moved while it was being landed on; nothing was changed, run land again.`);
  }
  return { commit: made.commit, how: howOf(request, made), branch };
}

type Made = Extract<LandingCommit, { commit: ObjectId }>;

function mustBeClean(
  request: LandRequest,
  landing: Exclude<LandingCommit, { kind: 'contained' }>,
  where: string,
): Made {
  switch (landing.kind) {
    case 'same-tree':
    case 'merged':
      return landing;
    case 'conflict':
      throw refused(
        `${where} and the result of ${request.run} conflict; nothing was changed. Merge it by hand or run it again from here.`,
        landing.paths,
      );
    case 'strayed':
      throw refused(
        `${where} moved so that merging ${request.run} would change what nobody approved; nothing was changed. Run it again from here.`,
        landing.reasons,
      );
  }
}

async function mustVerify(request: LandRequest, made: Made, where: string): Promise<void> {
  if (made.kind === 'same-tree') return;
  const verified = await request.verify(made.commit);
  if (verified.ok) return;
  throw refused(`merged with ${where}, the result of ${request.run} does not pass verify; nothing was changed.`, [
    verified.text,
  ]);
}

/** Uncommitted work, or any file that git does not track, in the way of the change. */
async function refuseOverlap(request: LandRequest, tip: ObjectId, landing: Made): Promise<void> {
  const { user, git } = request;
  const changes = await git.diff(await git.treeOf(tip), await git.treeOf(landing.commit));
  const created = changes.filter((change) => change.operation === 'create').map((change) => change.path);
  const overlap = overlappingPaths({
    changes,
    dirty: await user.dirtyPaths(),
    existing: await existingPaths(user.root, created),
  });
  if (overlap.length === 0) return;
  throw refused(
    `landing ${request.run} would overwrite uncommitted work in ${user.root}; nothing was changed. Commit, stash or move it first.`,
    overlap,
  );
}

function howOf(request: LandRequest, landing: Made): Landed['how'] {
  if (request.squash) return 'squash';
  switch (landing.kind) {
    case 'same-tree':
      return 'fast-forward';
    case 'merged':
      return 'merge';
  }
}

function shortName(ref: string): string {
  return ref.slice('refs/heads/'.length);
}

function refused(message: string, details: readonly (string | RepoPath)[] = []): OrchestratorError {
  return new OrchestratorError('refused', message, { details });
}
