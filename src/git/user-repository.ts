import { join } from 'node:path';
import type { SimpleGit } from 'simple-git';
import { OrchestratorError } from '../domain/errors.ts';
import type { Clock, ObjectId } from '../domain/ids.ts';
import { pathFromBytes, type RepoPath, splitNul } from '../domain/path.ts';
import { branchesInUse } from './checked-out.ts';
import { type GitCommand, type GitDoor, openDoor } from './command.ts';
import { addExcludeLines } from './exclude.ts';
import { type Environment, type FoundRepository, findRepository, openUserGit } from './find-repository.ts';
import type { StoreGit, UserRepository } from './git.ts';
import { configuredAuthor } from './identity.ts';
import { changeRef } from './move-ref.ts';
import { listRefs, resolveObject } from './revisions.ts';
import { storeDoor } from './store-git.ts';
import { indexPack, isComplete, packedObjectCount, packObjects } from './transfer.ts';
import { USER_CONFIG, userEnvironment } from './user-environment.ts';
import { writeWorkInProgressTree } from './work-in-progress.ts';

/** The repository around `directory`, with the user's own configuration and identity. */
export async function openUserRepository(
  directory: string,
  { environment, clock }: { environment: Environment; clock: Clock },
): Promise<UserRepository> {
  const found = await findRepository(directory, { environment });
  if (found === undefined) {
    throw new OrchestratorError(
      'configuration',
      `${directory} is not inside a git repository. Change to your checkout, or name it with -C.`,
    );
  }
  const git = openUserGit(found.root, environment);
  await refuseOtherHashes(git, found.root);
  const door = openDoor({
    cwd: found.root,
    environment: userEnvironment(environment),
    config: USER_CONFIG,
    subject: `the repository ${found.root}`,
  });
  return {
    root: found.root,
    commonDirectory: found.commonDirectory,
    objectsDirectory: found.objectsDirectory,
    resolve: (revision) => door(resolveObject(revision, 'commit')),
    head: () => headOf(door, found.root),
    dirtyPaths: () => door(changedPaths()),
    author: () => door(configuredAuthor()),
    checkedOutBranches: () => branchesInUse(found.commonDirectory),
    isPartialClone: () => hasPromisor(git),
    isShallow: async () => (await git.raw('rev-parse', '--is-shallow-repository')).trim() === 'true',
    importCommit: (store, commit) => importCommit(door, { store, commit, searchPath: environment['PATH'] }),
    moveRef: (ref, next, old) => changeRef(door, { ref, next, old }),
    deleteRef: async (ref) => {
      await changeRef(door, { ref, next: undefined, old: undefined });
    },
    exclude: (lines) => addExcludeLines(join(found.commonDirectory, 'info/exclude'), lines),
    captureWorkInProgress: (store) => captureWorkInProgress(door, { found, store, atMs: clock.now() }),
  };
}

async function refuseOtherHashes(git: SimpleGit, root: string): Promise<void> {
  const format = (await git.raw('rev-parse', '--show-object-format')).trim();
  if (format === 'sha1') return;
  throw new OrchestratorError('configuration', `${root} uses ${format} object names; only sha1 repositories work.`);
}

async function headOf(door: GitDoor, root: string): Promise<{ commit: ObjectId; branch: string | undefined }> {
  const commit = await door(resolveObject('HEAD', 'commit'));
  if (commit === undefined) {
    throw new OrchestratorError(
      'configuration',
      `${root} has no commit yet. Make one: git commit --allow-empty -m start`,
    );
  }
  const branch = await door({
    args: ['symbolic-ref', '--quiet', 'HEAD'],
    accepts: [1],
    parse: ({ exitCode, stdout }) => (exitCode === 0 ? stdout.toString('utf8').trim() : undefined),
  });
  return { commit, branch };
}

/** `XY <path>` NUL; without rename detection every record is one field. */
function changedPaths(): GitCommand<readonly RepoPath[]> {
  return {
    args: ['status', '--porcelain=v1', '-z', '--untracked-files=all', '--no-renames', '--ignore-submodules=none'],
    parse: ({ stdout }) => splitNul(stdout).map((field) => pathFromBytes(field.subarray(3))),
  };
}

async function hasPromisor(git: SimpleGit): Promise<boolean> {
  const settings = await git.listConfig();
  return Object.entries(settings.all).some(
    ([key, value]) =>
      key === 'extensions.partialclone' || (/^remote\..*\.promisor$/.test(key) && String(value) !== 'false'),
  );
}

/** Packs what no ref of the user reaches, wherever it lies, so that pruning cannot leave the commit with holes. */
async function importCommit(
  door: GitDoor,
  transfer: { store: StoreGit; commit: ObjectId; searchPath: string | undefined },
): Promise<void> {
  const { store, commit } = transfer;
  const known = new Set((await door(listRefs('refs/'))).values());
  const pack = await storeDoor(store.directory, transfer.searchPath)(packObjects(commit, known));
  if (packedObjectCount(pack) > 0) await door(indexPack(pack));
  if (await door(isComplete(commit))) return;
  throw new OrchestratorError(
    'failed',
    `commit ${commit} is not complete in your repository after the import; nothing was moved. Run git fsck there.`,
  );
}

async function captureWorkInProgress(
  door: GitDoor,
  capture: { found: FoundRepository; store: StoreGit; atMs: number },
): Promise<ObjectId> {
  const author = await door(configuredAuthor());
  if (author === undefined) {
    throw new OrchestratorError(
      'configuration',
      'git does not know who you are. Run: git config --global user.name "Your Name" and git config --global user.email you@example.org',
    );
  }
  const { commit } = await headOf(door, capture.found.root);
  const tree = await writeWorkInProgressTree(door, {
    gitDirectory: capture.found.gitDirectory,
    storeDirectory: capture.store.directory,
    head: commit,
  });
  const message = 'Uncommitted work, taken along by --with-wip\n';
  return capture.store.commit({ tree, parents: [commit], message, author, atMs: capture.atMs });
}
