import { setTimeout as delay } from 'node:timers/promises';
import type { EventRow, RunResult } from '../api/backend.ts';
import type { ApiClient } from '../api/client.ts';
import { EXIT_CODES, OrchestratorError } from '../domain/errors.ts';
import { FINAL_STATES, NOTHING_MERGED, type RunState } from '../domain/run.ts';
import { askPerson } from './ask-person.ts';
import type { Io } from './io.ts';
import { eventText } from './output/event-text.ts';
import { printJson } from './output/json.ts';
import { printRun } from './output/run-result.ts';
import { mention, say } from './output/say.ts';

export interface Followed {
  readonly api: ApiClient;
  readonly run: string;
}

/**
 * Follows a run to its end, printing its events. At a checkpoint it asks the person at the terminal; without one, or
 * when the person leaves, it ends with exit code 3 and nothing is assumed.
 */
export async function followRun(io: Io, followed: Followed): Promise<number> {
  let afterSeq = 0;
  let quietLooks = 0;
  for (;;) {
    const events = await followed.api.events({ afterSeq, limit: 500, timeoutMs: POLL_MS, run: followed.run });
    printEvents(io, events, followed.run);
    afterSeq = events.at(-1)?.seq ?? afterSeq;
    const result = await findRun(followed);
    if (FINAL_STATES.has(result.state as RunState)) return conclude(io, result);
    if (result.checkpoints.length > 0) {
      if (!(await askInPlace(io, followed, result))) return leaveWaiting(io, result);
      continue;
    }
    // Approved but not moved: the target is checked out somewhere, which only `land` may change.
    quietLooks = result.state === 'ready' && events.length === 0 ? quietLooks + 1 : 0;
    if (quietLooks >= LOOKS_UNTIL_LAND || saysLand(result)) return leaveForLand(io, result);
    if (events.length === 0) await delay(PAUSE_MS);
  }
}

const POLL_MS = 2000;
const PAUSE_MS = 100;
/** A gate at work is quiet too; a minute without an event is not one. */
const LOOKS_UNTIL_LAND = 30;

function saysLand(result: RunResult): boolean {
  return result.state === 'ready' && result.reason?.includes('orchestrator land') === true;
}

async function findRun(followed: Followed): Promise<RunResult> {
  const result = await followed.api.showRun(followed.run);
  if (result !== undefined) return result;
  throw new OrchestratorError('failed', `the daemon no longer knows ${followed.run}: see \`orchestrator logs\``);
}

function printEvents(io: Io, events: readonly EventRow[], run: string): void {
  for (const event of events) {
    const text = event.run === run ? eventText(event) : undefined;
    if (text !== undefined) mention(io, text);
  }
}

/** False when a question is left: there is nobody to ask, or the person skipped or quit. */
async function askInPlace(io: Io, followed: Followed, result: RunResult): Promise<boolean> {
  const { terminal } = io;
  if (terminal === undefined || io.json) return false;
  const shown = await Promise.all(result.checkpoints.map((id) => followed.api.showCheckpoint(id)));
  const pending = shown
    .filter((checkpoint) => checkpoint?.state === 'pending')
    .filter((checkpoint) => checkpoint !== undefined);
  const summary = await askPerson(io, { api: followed.api, terminal, pending });
  return !summary.quit && summary.skipped === 0;
}

function leaveWaiting(io: Io, result: RunResult): number {
  if (io.json) printJson(io, result);
  for (const id of result.checkpoints) {
    if (!io.json) say(io, `${result.run} waits at ${id}`);
    mention(
      io,
      `see it with \`orchestrator show ${id}\`, answer with \`orchestrator approve ${id}\` or \`orchestrator reject ${id} --reason "…"\``,
    );
  }
  return EXIT_CODES.waiting;
}

function leaveForLand(io: Io, result: RunResult): number {
  if (io.json) printJson(io, result);
  else printRun(io, result);
  mention(
    io,
    `approved, and ${result.target} is not moved while it is checked out: \`orchestrator land ${result.run}\``,
  );
  return EXIT_CODES.waiting;
}

function conclude(io: Io, result: RunResult): number {
  if (io.json) printJson(io, result);
  else printRun(io, result);
  if (result.state === 'merged') {
    mention(io, `next: \`orchestrator land ${result.run}\` brings it into your branch`);
    return 0;
  }
  if (result.reason?.startsWith(NOTHING_MERGED)) return 0;
  if (result.state === 'budget_exhausted') return EXIT_CODES.budget;
  return result.reason?.startsWith('the gate refused') ? EXIT_CODES.refused : EXIT_CODES.failed;
}
