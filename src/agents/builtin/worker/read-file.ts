import { readFile, stat } from 'node:fs/promises';
import { cutLines } from './cut-text.ts';
import { explain, Failure } from './failure.ts';
import { openable } from './resolve.ts';
import { encodingOf } from './text-encoding.ts';

/** The text of a file, plain; when a part is left out, a first line says which lines follow and how to go on. */
export async function readText(
  tree: string,
  wanted: { path: string; offset?: number; limit?: number },
): Promise<string> {
  const bytes = await readRegular(tree, wanted.path);
  const encoding = encodingOf(bytes, wanted.path);
  const text = bytes.toString(encoding);
  const note = encoding === 'latin1' ? `[${wanted.path} is not UTF-8; shown as latin1]\n` : '';
  const lines = text.split('\n');
  const count = lines.at(-1) === '' ? lines.length - 1 : lines.length;
  const first = wanted.offset ?? 1;
  if (first > Math.max(count, 1))
    throw new Failure(`${wanted.path} has ${count} lines; offset ${first} is past its end.`);
  const { kept, left } = cutLines(lines.slice(first - 1), { bytes: BYTES, lines: wanted.limit ?? Infinity });
  if (first === 1 && left === 0) return note + cutLongLine(text);
  const last = Math.min(first + kept.length - 1, count);
  const next = last < count ? `; read on with offset ${last + 1}` : '';
  const shown = cutLongLine(kept.join('\n'));
  return `${note}[${wanted.path}: lines ${first}-${last} of ${count}${next}]\n${shown}`;
}

const BYTES = 60_000;
const CHARACTERS_OF_ONE_LINE = 100_000;
const FILE_BYTES = 50_000_000;

/** One line may be longer than everything that is shown at once. */
function cutLongLine(text: string): string {
  const left = text.length - CHARACTERS_OF_ONE_LINE;
  return left <= 0 ? text : `${text.slice(0, CHARACTERS_OF_ONE_LINE)}\n[${left} characters of this line left out]`;
}

async function readRegular(tree: string, path: string): Promise<Buffer> {
  try {
    const file = await openable(tree, path, 'links-refused');
    const found = await stat(file);
    if (found.isDirectory()) throw new Failure(`${path} is a directory; use list_files with the glob ${path}/**.`);
    if (!found.isFile()) throw new Failure(`${path} is not a regular file.`);
    if (found.size > FILE_BYTES) throw new Failure(`${path} has ${found.size} bytes, too many to read; use search.`);
    return await readFile(file);
  } catch (error) {
    throw explain(error, path);
  }
}
