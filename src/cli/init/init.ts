import { OrchestratorError } from '../../domain/errors.ts';
import type { UserRepository } from '../../git/git.ts';
import type { StateDirectory } from '../../store/state-directory.ts';
import type { Io } from '../io.ts';
import { printJson } from '../output/json.ts';
import { mention, say } from '../output/say.ts';
import { type Given, isGiven, textOption } from '../program/verb.ts';
import { stateOf } from '../state.ts';
import { detectSetup, inventoryLines, type Setup } from './detect-setup.ts';
import { copyMissing, copyOver, type Placed, placeFiles } from './place-files.ts';
import { renderFiles } from './render-files.ts';
import { chooseRoles, type ShippedRole, sharesOneKey } from './roles.ts';

/**
 * Sets a repository up. What exists is never overwritten, and apart from policies/, agent-notes/, the id and the lines
 * in info/exclude nothing in the repository changes.
 */
export async function init(io: Io, given: Given): Promise<number> {
  const roles = chooseRoles(textOption(given, 'roles'));
  const { openUserRepository } = await import('../../git/user-repository.ts');
  const user = await openUserRepository(io.cwd, { environment: io.env, clock: { now: io.now } });
  await user.head();
  if (isGiven(given, 'restore')) return restoreFiles(io, user);
  const setup = await detectSetup(io, user, textOption(given, 'profile'));
  for (const line of inventoryLines(setup)) mention(io, line);
  await confirm(io, given, user);
  const state = await stateOf(io, user, { create: true });
  const allowSharedKey = await offerSharedKey(io, given, roles);
  const files = await renderFiles({ setup, roles, allowSharedKey });
  // Notes that a `git clean` took away come back first: empty ones would replace their only copy below.
  await copyMissing(state.notesBackup, `${user.root}/agent-notes`);
  const placed = await placeFiles(user.root, files.checkout, 0o644);
  const env = await placeFiles(state.directory, new Map([['.env', files.env]]), 0o600);
  if (!isGiven(given, 'track')) await user.exclude(['/policies/', '/agent-notes/']);
  await copyOver(state.policiesBackup, `${state.policiesBackup}.old`);
  await copyOver(`${user.root}/policies`, state.policiesBackup);
  await copyOver(`${user.root}/agent-notes`, state.notesBackup);
  announce(io, { setup, placed, env, state, tracked: isGiven(given, 'track') });
  return 0;
}

async function confirm(io: Io, given: Given, user: UserRepository): Promise<void> {
  if (isGiven(given, 'yes')) return;
  if (io.terminal === undefined) {
    throw new OrchestratorError('usage', 'init asks before it writes, and there is no terminal to ask on: add --yes');
  }
  const answer = await io.terminal.askLine(`Write policies/ and agent-notes/ into ${user.root}? [Y/n] `);
  if (answer !== undefined && /^(?:y(?:es)?)?$/i.test(answer.trim())) return;
  throw new OrchestratorError('failed', 'you said no: nothing was written');
}

/** One key for several roles works, with attribution by local counters alone; that is the person's choice. */
async function offerSharedKey(io: Io, given: Given, roles: readonly ShippedRole[]): Promise<boolean> {
  if (sharesOneKey(roles, io.env)) return true;
  if (isGiven(given, 'yes') || io.terminal === undefined) return false;
  const answer = await io.terminal.askLine(
    'Will several roles share one key? Reports then rest on local counters. [y/N] ',
  );
  return /^y(?:es)?$/i.test(answer?.trim() ?? '');
}

async function restoreFiles(io: Io, user: UserRepository): Promise<number> {
  const state = await stateOf(io, user, { create: false });
  const policies = await copyMissing(state.policiesBackup, `${user.root}/policies`);
  const notes = await copyMissing(state.notesBackup, `${user.root}/agent-notes`);
  const written = [
    ...policies.written.map((name) => `policies/${name}`),
    ...notes.written.map((name) => `agent-notes/${name}`),
  ];
  const kept = [...policies.kept.map((name) => `policies/${name}`), ...notes.kept.map((name) => `agent-notes/${name}`)];
  if (written.length + kept.length === 0) {
    throw new OrchestratorError(
      'usage',
      `there is no copy in ${state.directory} to restore: run \`orchestrator init\``,
    );
  }
  if (io.json) printJson(io, { written, kept });
  else printPlaced(io, { written, kept });
  return 0;
}

interface Announced {
  readonly setup: Setup;
  readonly placed: Placed;
  readonly env: Placed;
  readonly state: StateDirectory;
  readonly tracked: boolean;
}

function announce(io: Io, { setup, placed, env, state, tracked }: Announced): void {
  if (io.json) {
    const { profile, vars } = setup;
    printJson(io, { profile, vars, ...placed, state: state.directory, env: state.env, tracked });
    return;
  }
  printPlaced(io, placed);
  say(io, `${env.written.length > 0 ? 'wrote' : 'kept '} ${state.env}`);
  say(io, `state in ${state.directory}`);
  say(
    io,
    tracked
      ? 'policies/ and agent-notes/ are yours to commit'
      : 'policies/ and agent-notes/ are excluded by info/exclude',
  );
  mention(io, `\nnext: put base URL, keys and models into ${state.env}, then \`orchestrator start\``);
}

function printPlaced(io: Io, placed: Placed): void {
  for (const name of placed.written) say(io, `wrote ${name}`);
  for (const name of placed.kept) say(io, `kept  ${name}`);
}
