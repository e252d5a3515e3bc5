import { appendFile, mkdir, readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import type { RoleName } from '../domain/ids.ts';

/**
 * Appends to `agent-notes/<role>.md` of the checkout where that directory is there, and always to `notes.bak/`, so that
 * a `git clean -fdx` takes no note away. Once per key in each: a repeated turn after a crash finds its key.
 */
export async function appendNote(options: {
  checkout: string;
  backup: string;
  role: RoleName;
  key: string;
  text: string;
}): Promise<void> {
  const entry = { name: `${options.role}.md`, marker: `<!-- ${options.key} -->`, text: options.text.trimEnd() };
  await mkdir(options.backup, { recursive: true, mode: 0o700 });
  const notes = path.join(options.checkout, 'agent-notes');
  for (const directory of (await isDirectory(notes)) ? [options.backup, notes] : [options.backup]) {
    await appendOnce(path.join(directory, entry.name), entry);
  }
}

async function appendOnce(file: string, entry: { marker: string; text: string }): Promise<void> {
  if ((await textOf(file)).includes(entry.marker)) return;
  await appendFile(file, `\n${entry.marker}\n${entry.text}\n`);
}

async function isDirectory(directory: string): Promise<boolean> {
  return stat(directory).then(
    (found) => found.isDirectory(),
    () => false,
  );
}

async function textOf(file: string): Promise<string> {
  return readFile(file, 'utf8').catch(() => '');
}
