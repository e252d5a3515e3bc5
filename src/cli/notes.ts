import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { OrchestratorError } from '../domain/errors.ts';
import type { Io } from './io.ts';
import { digestNotes } from './notes-digest.ts';
import { printJson } from './output/json.ts';
import { mention, say } from './output/say.ts';
import type { Given } from './program/verb.ts';
import { findRepository } from './repository.ts';
import { stateOf } from './state.ts';

/** Prints what the roles wrote down. Works without a daemon; nothing is merged or removed by the machine. */
export async function notes(io: Io, given: Given): Promise<number> {
  const repository = await findRepository(io);
  const [what] = given.args;
  const wanted = join(repository.root, 'agent-notes');
  const found =
    (await readNotes(wanted)) ?? (await readNotes((await stateOf(io, repository, { create: false })).notesBackup));
  if (found === undefined || found.size === 0) {
    throw new OrchestratorError(
      'usage',
      `there are no notes in ${wanted}: \`orchestrator init\` makes them, \`init --restore\` brings them back`,
    );
  }
  if (what === 'merge') return printDigest(io, found);
  if (what !== undefined && !found.has(what)) {
    throw new OrchestratorError('usage', `no notes of a role ${what}: ${[...found.keys()].join(', ')}`);
  }
  const shown = what === undefined ? [...found] : [...found].filter(([role]) => role === what);
  if (io.json) printJson(io, Object.fromEntries(shown));
  else for (const [role, text] of shown) say(io, shown.length === 1 ? text : `== ${role}\n${text}`);
  return 0;
}

async function readNotes(directory: string): Promise<ReadonlyMap<string, string> | undefined> {
  const names = await readdir(directory).catch(() => undefined);
  if (names === undefined) return undefined;
  const files = names.filter((name) => name.endsWith('.md') && name !== 'README.md').toSorted();
  return new Map(
    await Promise.all(
      files.map(async (name) => [name.slice(0, -'.md'.length), await readFile(join(directory, name), 'utf8')] as const),
    ),
  );
}

function printDigest(io: Io, found: ReadonlyMap<string, string>): number {
  const entries = digestNotes(found);
  if (io.json) {
    printJson(io, entries);
    return 0;
  }
  if (entries.length === 0) say(io, 'the roles have written nothing yet');
  for (const entry of entries)
    say(io, `- ${entry.roles.join(', ')} (${entry.sources.join(', ')})\n  ${entry.text.replaceAll('\n', '\n  ')}`);
  mention(
    io,
    '\nmerge what should stay into your documentation by hand; entries stay in agent-notes/ until you remove them',
  );
  return 0;
}
