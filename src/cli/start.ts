import { fileURLToPath } from 'node:url';
import type { Status } from '../api/backend.ts';
import { connectApi } from '../api/client.ts';
import { OrchestratorError } from '../domain/errors.ts';
import type { Io } from './io.ts';
import { type Launch, launchAttached, launchDetached } from './launch-daemon.ts';
import { printJson } from './output/json.ts';
import { mention, say } from './output/say.ts';
import { type Given, isGiven } from './program/verb.ts';
import { findRepository } from './repository.ts';
import { stateOf } from './state.ts';
import { printWarning } from './status.ts';

/** Exit 0 when a daemon runs afterwards, whether it was started now or before. */
export async function start(io: Io, given: Given): Promise<number> {
  const repository = await findRepository(io);
  const state = await stateOf(io, repository, { create: true });
  const running = await askStatus(io, state.socket);
  if (running !== undefined) return announce(io, running, { alreadyRunning: true });
  const launch: Launch = { io, root: repository.root, logs: state.logs, entry: daemonEntry() };
  if (isGiven(given, 'foreground')) return launchAttached(launch);
  const { status, outcome } = await launchUntilReady(launch, state.socket);
  return announce(io, status, { alreadyRunning: outcome === 'already-running' });
}

/** The daemon is the neighbour of the cli room, as .ts in a checkout and as .js in the package. */
function daemonEntry(): string {
  const extension = import.meta.url.endsWith('.ts') ? 'ts' : 'js';
  return fileURLToPath(new URL(`../daemon.${extension}`, import.meta.url));
}

/**
 * A daemon that somebody else is starting at this moment holds the lock a little before it listens. A `doctor` holds it,
 * too, and never listens: after a while it is tried again.
 */
async function launchUntilReady(
  launch: Launch,
  socket: string,
): Promise<{ status: Status; outcome: 'ready' | 'already-running' }> {
  const { io } = launch;
  const deadline = io.now() + LONGEST_WAIT_MS;
  for (;;) {
    const outcome = await launchDetached(launch);
    const status = await waitForStatus(io, socket, outcome === 'ready' ? deadline : io.now() + RETRY_MS);
    if (status !== undefined) return { status, outcome };
    if (io.now() < deadline) continue;
    throw new OrchestratorError(
      'failed',
      `the daemon does not answer at ${socket}: see \`orchestrator logs\`, or end the \`doctor\` that is at work`,
    );
  }
}

/** Longer than a `doctor` waits for a model. */
const LONGEST_WAIT_MS = 90_000;
const RETRY_MS = 3_000;
const LOOK_MS = 100;

async function waitForStatus(io: Io, socket: string, deadline: number): Promise<Status | undefined> {
  for (;;) {
    const status = await askStatus(io, socket);
    if (status !== undefined || io.now() > deadline) return status;
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  }
}

async function askStatus(io: Io, socket: string): Promise<Status | undefined> {
  try {
    const api = await connectApi(socket, { uid: io.uid, signal: io.signal });
    try {
      return await api.status();
    } finally {
      api.close();
    }
  } catch (error) {
    if (error instanceof OrchestratorError && error.code === 'no-daemon') return undefined;
    throw error;
  }
}

function announce(io: Io, status: Status, { alreadyRunning }: { alreadyRunning: boolean }): number {
  if (io.json) {
    printJson(io, { alreadyRunning, ...status });
    return 0;
  }
  const { daemon, watcher } = status;
  say(io, `${alreadyRunning ? 'running already' : 'ready'}: pid ${daemon.pid}, gateway ${daemon.gatewayUrl}`);
  say(
    io,
    `watching ${watcher.trees} ${watcher.trees === 1 ? 'tree' : 'trees'} by ${watcher.mode}, sandbox ${daemon.sandbox}`,
  );
  for (const warning of daemon.warnings) printWarning(io, warning);
  mention(io, 'next: `orchestrator run "…"`');
  return 0;
}
