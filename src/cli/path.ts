import { join } from 'node:path';
import { OrchestratorError } from '../domain/errors.ts';
import type { Io } from './io.ts';
import { printJson } from './output/json.ts';
import { say } from './output/say.ts';
import type { Given } from './program/verb.ts';
import { findRepository } from './repository.ts';
import { stateOf } from './state.ts';

/** Prints one place bare, for `$(…)`, or all of them. */
export async function path(io: Io, given: Given): Promise<number> {
  const state = await stateOf(io, await findRepository(io), { create: false });
  const places = {
    state: state.directory,
    env: state.env,
    workspaces: state.workspaces,
    log: join(state.logs, 'daemon.log'),
    socket: state.socket,
  };
  const [what] = given.args;
  if (what !== undefined && !Object.hasOwn(places, what)) {
    throw new OrchestratorError('usage', `there is no place called ${what}: ${Object.keys(places).join(', ')}`);
  }
  if (io.json) printJson(io, places);
  else if (what === undefined)
    for (const [name, where] of Object.entries(places)) say(io, `${name.padEnd(12)}${where}`);
  else io.stdout(`${places[what as keyof typeof places]}\n`);
  return 0;
}
