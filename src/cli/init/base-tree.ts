import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { pathFromBytes, type RepoPath, splitNul } from '../../domain/path.ts';

/** The tree of HEAD, read without touching the work tree: what is detected there does not depend on local edits. */
export interface BaseTree {
  readonly paths: readonly RepoPath[];
  /** The text of a file, undefined when the tree has none at that path. */
  readText(path: string): Promise<string | undefined>;
}

const run = promisify(execFile);
const MAX_OUTPUT_BYTES = 512 * 1024 * 1024;

export async function readBaseTree(root: string, environment: Readonly<Record<string, string>>): Promise<BaseTree> {
  const options = { cwd: root, env: environment, maxBuffer: MAX_OUTPUT_BYTES, encoding: 'buffer' } as const;
  const listed = await run('git', ['ls-tree', '-r', '-z', '--name-only', '--full-tree', 'HEAD'], options);
  const paths = splitNul(listed.stdout).map(pathFromBytes);
  const known = new Set<string>(paths);
  return {
    paths,
    async readText(path) {
      if (!known.has(path)) return undefined;
      const { stdout } = await run('git', ['cat-file', 'blob', `HEAD:${path}`], options);
      return stdout.toString('utf8');
    },
  };
}
