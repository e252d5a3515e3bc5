import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';

/** Adds the lines that are not there yet; what the user wrote stays as it is. */
export async function addExcludeLines(file: string, lines: readonly string[]): Promise<void> {
  const text = await readFile(file, 'utf8').catch(() => '');
  const present = new Set(text.split(/\r?\n/));
  const missing = lines.filter((line) => !present.has(line));
  if (missing.length === 0) return;
  await mkdir(dirname(file), { recursive: true });
  const separator = text === '' || text.endsWith('\n') ? '' : '\n';
  await writeFile(file, `${text}${separator}${missing.join('\n')}\n`);
}
