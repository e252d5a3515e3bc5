import { lstat, mkdir, readFile, rename, unlink } from 'node:fs/promises';
import { applyEdit } from './apply-edit.ts';
import { explain, Failure } from './failure.ts';
import { replaceFile } from './replace-file.ts';
import { openable } from './resolve.ts';
import { encodingOf, toByteText } from './text-encoding.ts';

export interface Edit {
  readonly path: string;
  readonly oldText: string;
  readonly newText: string;
  readonly replaceAll: boolean;
}

export async function editFile(tree: string, edit: Edit): Promise<string> {
  return explained(edit.path, async () => {
    const file = await openable(tree, edit.path, 'links-refused');
    const { mode } = await regularFile(file, edit.path);
    const bytes = await readFile(file);
    const encoding = encodingOf(bytes, edit.path);
    const newText = toByteText(edit.newText, encoding);
    if (newText === undefined) {
      throw new Failure(`${edit.path} is not UTF-8, and new_text holds characters that its encoding can't (latin1).`);
    }
    const oldText = toByteText(edit.oldText, encoding);
    const result =
      oldText === undefined
        ? ({ kind: 'none', nearest: [] } as const)
        : applyEdit(bytes.toString('latin1'), { oldText, newText, replaceAll: edit.replaceAll });
    switch (result.kind) {
      case 'none':
        throw new Failure(notFound(edit.path, result.nearest));
      case 'several':
        throw new Failure(notUnique(edit.path, result.lines));
      case 'edited':
        await replaceFile(file, Buffer.from(result.content, 'latin1'), mode);
        return `Edited ${edit.path}: ${result.replaced} replacement${result.replaced === 1 ? '' : 's'}.`;
    }
  });
}

export async function writeFileWhole(tree: string, path: string, content: string): Promise<string> {
  return explained(path, async () => {
    const file = await openable(tree, path, 'links-refused');
    const found = await lstat(file).catch(() => undefined);
    if (found === undefined) {
      await mkdir(file.subarray(0, file.lastIndexOf('/')), { recursive: true });
      await replaceFile(file, Buffer.from(content), undefined);
      return `Created ${path}.`;
    }
    await regularFile(file, path);
    const text =
      isMostlyCrlf(await readFile(file)) && !content.includes('\r') ? content.replace(/\n/g, '\r\n') : content;
    await replaceFile(file, Buffer.from(text), found.mode);
    return `Wrote ${path}.`;
  });
}

export async function deleteFile(tree: string, path: string): Promise<string> {
  return explained(path, async () => {
    const file = await openable(tree, path, 'last-may-be-link');
    if ((await lstat(file)).isDirectory()) throw new Failure(`${path} is a directory; delete its files one by one.`);
    await unlink(file);
    return `Deleted ${path}.`;
  });
}

export async function moveFile(tree: string, from: string, to: string): Promise<string> {
  return explained(from, async () => {
    const source = await openable(tree, from, 'last-may-be-link');
    const target = await openable(tree, to, 'last-may-be-link');
    if ((await lstat(source)).isDirectory()) throw new Failure(`${from} is a directory; move its files one by one.`);
    const taken = await lstat(target).catch(() => undefined);
    if (taken !== undefined) throw new Failure(`${to} exists already; delete it first or choose another name.`);
    await mkdir(target.subarray(0, target.lastIndexOf('/')), { recursive: true }).catch((error) => {
      throw explain(error, to);
    });
    await rename(source, target);
    return `Moved ${from} to ${to}.`;
  });
}

async function explained<Result>(path: string, act: () => Promise<Result>): Promise<Result> {
  try {
    return await act();
  } catch (error) {
    throw explain(error, path);
  }
}

async function regularFile(file: Buffer, path: string): Promise<{ mode: number }> {
  const found = await lstat(file);
  if (found.isDirectory()) throw new Failure(`${path} is a directory.`);
  if (!found.isFile()) throw new Failure(`${path} is not a regular file.`);
  return found;
}

function isMostlyCrlf(bytes: Buffer): boolean {
  const text = bytes.toString('latin1');
  const all = text.split('\n').length - 1;
  return all > 0 && (text.split('\r\n').length - 1) * 2 > all;
}

function notFound(path: string, nearest: readonly number[]): string {
  const hint =
    nearest.length === 0
      ? 'Its first line is not in the file either: read the file again and copy the text exactly.'
      : `Its first line is, but for white space or what follows, line ${nearest.join(', ')}: read there and copy exactly.`;
  return `old_text was not found in ${path}. ${hint}`;
}

function notUnique(path: string, lines: readonly number[]): string {
  const shown = lines.slice(0, 10).join(', ');
  return (
    `old_text occurs ${lines.length} times in ${path} (line ${shown}${lines.length > 10 ? ', …' : ''}). ` +
    'Give more lines around it so that it is unique, or set replace_all.'
  );
}
