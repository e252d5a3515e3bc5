import { appendFile, mkdir, readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import type { RoleName } from '../domain/ids.ts';

/**
 * Appends to `agent-notes/<role>.md` of the checkout, or to `notes.bak/` when that directory is gone, once per key:
 * a repeated turn after a crash finds its key in the file and leaves it alone. Returns the file that was used.
 */
export async function appendNote(options: {
  checkout: string;
  backup: string;
  role: RoleName;
  key: string;
  text: string;
}): Promise<string> {
  const wanted = path.join(options.checkout, 'agent-notes');
  const directory = (await isDirectory(wanted)) ? wanted : options.backup;
  await mkdir(directory, { recursive: true });
  const file = path.join(directory, `${options.role}.md`);
  const marker = `<!-- ${options.key} -->`;
  if ((await textOf(file)).includes(marker)) return file;
  await appendFile(file, `\n${marker}\n${options.text.trimEnd()}\n`);
  return file;
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
