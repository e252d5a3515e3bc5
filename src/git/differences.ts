import type { Change, Operation } from '../domain/decision.ts';
import type { ObjectId } from '../domain/ids.ts';
import { pathFromBytes, type RepoPath, splitNul } from '../domain/path.ts';
import type { GitCommand } from './command.ts';

/** A rename is a delete and a create; submodules are never skipped. */
export function rawDifference(fromTree: ObjectId, toTree: ObjectId): GitCommand<readonly Change[]> {
  return {
    args: [
      'diff-tree',
      '-r',
      '-z',
      '--raw',
      '--no-renames',
      '--no-abbrev',
      '--ignore-submodules=none',
      fromTree,
      toTree,
    ],
    parse: ({ stdout }) => parseRaw(stdout),
  };
}

/** The whole change as a patch that `git apply` takes back byte for byte. */
export function patchBetween(fromTree: ObjectId, toTree: ObjectId): GitCommand<Buffer> {
  return {
    args: [
      'diff-tree',
      '-r',
      '-p',
      '--binary',
      '--full-index',
      '--no-renames',
      '--no-textconv',
      '--no-ext-diff',
      '--no-color',
      '--ignore-submodules=none',
      '--src-prefix=a/',
      '--dst-prefix=b/',
      fromTree,
      toTree,
    ],
    parse: ({ stdout }) => stdout,
  };
}

interface LineCount {
  readonly path: RepoPath;
  readonly added: number;
  readonly deleted: number;
}

export function lineCounts(fromTree: ObjectId, toTree: ObjectId): GitCommand<readonly LineCount[]> {
  return {
    args: ['diff-tree', '-r', '-z', '--numstat', '--no-renames', '--no-textconv', '--no-ext-diff', fromTree, toTree],
    parse: ({ stdout }) => splitNul(stdout).map(parseCount),
  };
}

const OPERATIONS: Readonly<Record<string, Operation>> = { A: 'create', D: 'delete', M: 'modify', T: 'modify' };

/** `:<old mode> <new mode> <old id> <new id> <status>` NUL `<path>` NUL. */
function parseRaw(stdout: Buffer): Change[] {
  const fields = splitNul(stdout);
  const changes: Change[] = [];
  for (let index = 0; index + 1 < fields.length; index += 2) {
    const head = fields[index]?.toString('latin1').slice(1) ?? '';
    const [oldMode = '', newMode = '', oldBlob = '', newBlob = '', status = ''] = head.split(' ');
    const path = pathFromBytes(fields[index + 1] ?? Buffer.alloc(0));
    changes.push({ path, operation: OPERATIONS[status] ?? 'modify', oldMode, newMode, oldBlob, newBlob });
  }
  return changes;
}

function parseCount(field: Buffer): LineCount {
  const first = field.indexOf(0x09);
  const second = field.indexOf(0x09, first + 1);
  const count = (bytes: Buffer) => Number.parseInt(bytes.toString('latin1'), 10) || 0; // `-` stands for binary
  return {
    path: pathFromBytes(field.subarray(second + 1)),
    added: count(field.subarray(0, first)),
    deleted: count(field.subarray(first + 1, second)),
  };
}
