/** A failure that an agent can cause and should read about. Everything else that is thrown is a bug. */
export class Failure extends Error {}

/** Says what a file system error means, for the ones that agents meet. */
export function explain(error: unknown, path: string): Failure {
  if (error instanceof Failure) return error;
  const code = error instanceof Error && 'code' in error ? String(error.code) : undefined;
  switch (code) {
    case 'ENOENT':
      return new Failure(`${path} does not exist.`);
    case 'EROFS':
      return new Failure(`${path} is read-only here: its directory is denied to this role as a whole.`);
    case 'EISDIR':
      return new Failure(`${path} is a directory.`);
    case 'ENOTDIR':
      return new Failure(`A parent of ${path} is a file, not a directory.`);
    case 'EACCES':
    case 'EPERM':
      return new Failure(`${path}: permission denied.`);
    case 'ENAMETOOLONG':
      return new Failure(`${path}: the name is too long.`);
    case 'ENOSPC':
      return new Failure(`${path}: no space left on the disk.`);
    default:
      return new Failure(`${path}: ${error instanceof Error ? error.message : String(error)}`);
  }
}
