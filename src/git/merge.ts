import type { ObjectId } from '../domain/ids.ts';
import { pathFromBytes, type RepoPath, splitNul } from '../domain/path.ts';
import type { GitCommand } from './command.ts';

type MergeOutcome =
  | { readonly clean: true; readonly tree: ObjectId }
  | { readonly clean: false; readonly paths: readonly RepoPath[] };

/**
 * Merges two real commits in the bare store: no work tree, so no `.gitattributes` of a tree chooses a driver. Directory
 * renames stay off: they would carry a role's change to a path that nobody judged (security.md L9).
 */
export function mergeCommits(ours: ObjectId, theirs: ObjectId): GitCommand<MergeOutcome> {
  return {
    args: ['merge-tree', '--write-tree', '-z', '--name-only', '--no-messages', ours, theirs],
    accepts: [1],
    parse: ({ exitCode, stdout }) => {
      const [tree = Buffer.alloc(0), ...paths] = splitNul(stdout);
      if (exitCode === 0) return { clean: true, tree: tree.toString('latin1').trim() as ObjectId };
      return { clean: false, paths: [...new Set(paths.filter((path) => path.length > 0).map(pathFromBytes))] };
    },
  };
}
