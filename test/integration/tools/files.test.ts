import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { openStep, type Step } from './step.ts';

let step: Step;
beforeAll(async () => {
  step = await openStep();
});
afterAll(() => step.stop());

let name: string;
let counter = 0;
/** A fresh writable path for each test. */
beforeEach(() => {
  counter += 1;
  name = `src/f${counter}.txt`;
  mkdirSync(at('src'), { recursive: true });
});

function at(file: string): string {
  return path.join(step.tree, file);
}

async function answer(tool: string, input: unknown): Promise<{ text: string; isError: boolean }> {
  const outcome = await step.call(tool, input);
  if (outcome.kind !== 'result') throw new Error(`expected a result, got ${JSON.stringify(outcome)}`);
  return { text: outcome.text, isError: outcome.isError };
}

function edit(oldText: string, newText: string, more: object = {}) {
  return answer('edit_file', { path: name, old_text: oldText, new_text: newText, ...more });
}

describe('edit_file', () => {
  it.each([
    ['CRLF with an LF old_text', 'a\r\nb\r\n', 'a\nb', 'a\nx\nb', 'a\r\nx\r\nb\r\n'],
    ['a byte order mark', '\ufeffa = 1\r\n', 'a = 1', 'a = 2', '\ufeffa = 2\r\n'],
    ['a missing last newline', 'a\nb', 'b', 'c', 'a\nc'],
    ['text that is not ASCII', 'é ü 漢\n', 'ü 漢', 'ö 字', 'é ö 字\n'],
  ])('keeps %s', async (_what, before, oldText, newText, after) => {
    writeFileSync(at(name), before);
    expect(await edit(oldText, newText)).toEqual({ text: `Edited ${name}: 1 replacement.`, isError: false });
    expect(readFileSync(at(name), 'utf8')).toBe(after);
  });

  it('keeps bytes that are not UTF-8', async () => {
    writeFileSync(at(name), Buffer.from('# caf\xe9\nx = 1\n', 'latin1'));
    await edit('x = 1', 'x = "\u00fc"');
    expect(readFileSync(at(name))).toEqual(Buffer.from('# caf\xe9\nx = "\xfc"\n', 'latin1'));
    expect(await edit('# caf\u00e9', '# 漢')).toMatchObject({
      isError: true,
      text: expect.stringContaining('not UTF-8'),
    });
    expect(await edit('# caf\u00e9', '# the')).toMatchObject({ isError: false });
  });

  it('keeps the mode and leaves no temporary file', async () => {
    writeFileSync(at(name), 'a\n');
    chmodSync(at(name), 0o755);
    await edit('a', 'b');
    expect(statSync(at(name)).mode & 0o777).toBe(0o755);
    expect(readdirSync(at('src')).filter((one) => one.includes('.tmp'))).toEqual([]);
  });

  it('asks for a unique place, or replaces all', async () => {
    writeFileSync(at(name), 'x\nx\n');
    expect(await edit('x', 'y')).toMatchObject({ isError: true, text: expect.stringContaining('2 times') });
    expect(readFileSync(at(name), 'utf8')).toBe('x\nx\n');
    expect((await edit('x', 'y', { replace_all: true })).text).toContain('2 replacements');
    expect(readFileSync(at(name), 'utf8')).toBe('y\ny\n');
  });

  it('says what is nearest when nothing matches', async () => {
    writeFileSync(at(name), 'if a:\n\treturn 1\n');
    expect((await edit('    return 1', 'x')).text).toContain('line 2');
    expect((await edit('nothing like it', 'x')).text).toContain('read the file again');
  });

  it('edits what a link points to and keeps the link', async () => {
    writeFileSync(at(name), 'a\n');
    const link = `src/link${counter}`;
    symlinkSync(path.basename(name), at(link));
    expect(await answer('edit_file', { path: link, old_text: 'a', new_text: 'b' })).toMatchObject({ isError: false });
    expect(readlinkSync(at(link))).toBe(path.basename(name));
    expect(readFileSync(at(name), 'utf8')).toBe('b\n');
  });

  it('refuses binary files, directories and missing files in words', async () => {
    writeFileSync(at(name), Buffer.from([97, 0, 98]));
    expect((await edit('a', 'b')).text).toContain('binary');
    expect((await answer('edit_file', { path: 'src', old_text: 'a', new_text: 'b' })).text).toContain('is a directory');
    expect((await answer('edit_file', { path: 'src/none', old_text: 'a', new_text: 'b' })).text).toContain(
      'does not exist',
    );
    expect(readFileSync(at(name))).toEqual(Buffer.from([97, 0, 98]));
  });
});

describe('write_file', () => {
  it('creates with parents and the usual mode', async () => {
    const file = `src/new${counter}/deep/a.py`;
    expect((await answer('write_file', { path: file, content: 'a\n' })).text).toBe(`Created ${file}.`);
    expect(readFileSync(at(file), 'utf8')).toBe('a\n');
    expect(statSync(at(file)).mode & 0o111).toBe(0);
  });

  it('keeps mode and CRLF of what it replaces', async () => {
    writeFileSync(at(name), 'a\r\nb\r\n');
    chmodSync(at(name), 0o750);
    await answer('write_file', { path: name, content: 'x\ny\n' });
    expect(readFileSync(at(name), 'utf8')).toBe('x\r\ny\r\n');
    expect(statSync(at(name)).mode & 0o777).toBe(0o750);
    writeFileSync(at(name), 'a\nb\n');
    await answer('write_file', { path: name, content: 'x\ny\n' });
    expect(readFileSync(at(name), 'utf8')).toBe('x\ny\n');
  });

  it('takes an absolute path that lies in the tree', async () => {
    expect((await answer('write_file', { path: at(name), content: 'a' })).text).toBe(`Created ${name}.`);
  });
});

describe('delete_file and move_file', () => {
  it('delete files and links, not directories or what a link points to', async () => {
    writeFileSync(at(name), 'a');
    symlinkSync(path.basename(name), at(`${name}.link`));
    expect(await answer('delete_file', { path: `${name}.link` })).toMatchObject({ isError: false });
    expect(existsSync(at(name))).toBe(true);
    expect(await answer('delete_file', { path: name })).toMatchObject({ isError: false });
    expect(existsSync(at(name))).toBe(false);
    expect((await answer('delete_file', { path: 'src' })).text).toContain('is a directory');
    expect((await answer('delete_file', { path: name })).text).toContain('does not exist');
  });

  it('moves to a free path only', async () => {
    writeFileSync(at(name), 'a');
    expect((await answer('move_file', { from: name, to: name })).text).toContain('exists already');
    expect(await answer('move_file', { from: name, to: `${name}.d/b` })).toMatchObject({ isError: false });
    expect(readFileSync(at(`${name}.d/b`), 'utf8')).toBe('a');
    expect(lstatSync(at(`${name}.d`)).isDirectory()).toBe(true);
  });
});

describe('read_file', () => {
  it('gives plain text, or the wanted lines with a first line about them', async () => {
    writeFileSync(at(name), 'one\ntwo\nthree\n');
    expect((await answer('read_file', { path: name })).text).toBe('one\ntwo\nthree\n');
    expect((await answer('read_file', { path: name, offset: 2, limit: 1 })).text).toBe(
      `[${name}: lines 2-2 of 3; read on with offset 3]\ntwo`,
    );
    expect((await answer('read_file', { path: name, offset: 9 })).text).toContain('3 lines');
  });

  it('keeps characters that other programs take for line ends', async () => {
    const content = 'a\u2028b\u2029c\u0085d\n';
    expect(await answer('write_file', { path: name, content })).toMatchObject({ isError: false });
    expect((await answer('read_file', { path: name })).text).toBe(content);
  });

  it('cuts what is too long and says how to go on', async () => {
    writeFileSync(at(name), `${'x'.repeat(99)}\n`.repeat(2000));
    const { text } = await answer('read_file', { path: name });
    expect(text.split('\n')[0]).toBe(`[${name}: lines 1-600 of 2000; read on with offset 601]`);
    expect(text.length).toBeLessThan(62_000);
    writeFileSync(at(name), 'y'.repeat(300_000));
    expect((await answer('read_file', { path: name })).text).toContain('[200000 characters of this line left out]');
  });

  it('says what is wrong: binary, directory, missing, outside', async () => {
    writeFileSync(at(name), Buffer.from([0]));
    expect((await answer('read_file', { path: name })).text).toContain('binary');
    expect((await answer('read_file', { path: 'src' })).text).toContain('list_files');
    expect((await answer('read_file', { path: 'nowhere/x' })).text).toContain('does not exist');
    expect(await answer('read_file', { path: '/etc/passwd' })).toMatchObject({ isError: true });
    expect(await answer('read_file', { path: '../x' })).toMatchObject({ isError: true });
  });
});
