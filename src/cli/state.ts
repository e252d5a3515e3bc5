import type { StateDirectory } from '../store/state-directory.ts';
import type { Io } from './io.ts';
import type { Repository } from './repository.ts';

/** Where this repository's state is. Throws `configuration` when it has none yet and `create` is not given. */
export async function stateOf(io: Io, repository: Repository, given: { create: boolean }): Promise<StateDirectory> {
  const { resolveStateDirectory } = await import('../store/state-directory.ts');
  return resolveStateDirectory({
    environment: io.env,
    homeDirectory: io.home,
    repositoryRoot: repository.root,
    commonDirectory: repository.commonDirectory,
    create: given.create,
  });
}
