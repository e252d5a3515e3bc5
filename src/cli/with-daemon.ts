import { type ApiClient, connectApi } from '../api/client.ts';
import { OrchestratorError } from '../domain/errors.ts';
import type { StateDirectory } from '../store/state-directory.ts';
import type { Io } from './io.ts';
import { findRepository, type Repository } from './repository.ts';
import { stateOf } from './state.ts';

/** Runs `use` with a connection to the daemon of the repository around `io.cwd`; closes it afterwards. */
export async function withDaemon<Result>(
  io: Io,
  use: (api: ApiClient, repository: Repository) => Promise<Result>,
): Promise<Result> {
  const repository = await findRepository(io);
  const state = await stateOfDaemon(io, repository);
  const api = await connectApi(state.socket, { uid: io.uid, signal: io.signal });
  try {
    return await use(api, repository);
  } finally {
    api.close();
  }
}

async function stateOfDaemon(io: Io, repository: Repository): Promise<StateDirectory> {
  try {
    return await stateOf(io, repository, { create: false });
  } catch (cause) {
    if (!(cause instanceof OrchestratorError) || io.env['ORCHESTRATOR_STATE_DIR']) throw cause;
    // Without an id there has never been a daemon here.
    const message = `no daemon is running for ${repository.root}: run \`orchestrator init\`, then \`orchestrator start\``;
    throw new OrchestratorError('no-daemon', message, { cause, details: [cause.message] });
  }
}
