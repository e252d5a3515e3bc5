import { pathFromBytes, type RepoPath, splitNul } from '../domain/path.ts';
import type { GitCommand } from './command.ts';
import { nulTerminated } from './trees.ts';

/** Paths that the `.gitattributes` files in the index mark `linguist-generated`. */
export function generatedInIndex(paths: Iterable<RepoPath>): GitCommand<ReadonlySet<RepoPath>> {
  return {
    args: ['check-attr', '--cached', '-z', '--stdin', 'linguist-generated'],
    input: nulTerminated(paths),
    parse: ({ stdout }) => parseGenerated(stdout),
  };
}

/** Triples of path, attribute, value. */
function parseGenerated(stdout: Buffer): ReadonlySet<RepoPath> {
  const fields = splitNul(stdout);
  const generated = new Set<RepoPath>();
  for (let index = 0; index + 2 < fields.length; index += 3) {
    const value = fields[index + 2]?.toString('latin1');
    if (value === 'set' || value === 'true') generated.add(pathFromBytes(fields[index] ?? Buffer.alloc(0)));
  }
  return generated;
}
