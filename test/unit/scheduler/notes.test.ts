import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { appendNote } from '../../../src/scheduler/notes.ts';
import { role } from './fixtures.ts';

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'orch-notes-'));
  mkdirSync(join(directory, 'agent-notes'));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

const note = (key: string, text: string) =>
  appendNote({ checkout: directory, backup: join(directory, 'bak'), role: role('coder'), key, text });
const times = (place: string, text: string) =>
  readFileSync(join(directory, place, 'coder.md'), 'utf8').split(text).length - 1;

test('a note is in the checkout and out of reach of git clean, once each', async () => {
  await note('k1', 'first');
  await note('k1', 'first');
  expect([times('agent-notes', 'first'), times('bak', 'first')]).toEqual([1, 1]);
});

test('a note that a crash cut between the two places is completed', async () => {
  await note('k1', 'first');
  rmSync(join(directory, 'agent-notes/coder.md'));
  await note('k1', 'first');
  expect([times('agent-notes', 'first'), times('bak', 'first')]).toEqual([1, 1]);
});

test('without the directory in the checkout the note is kept, and none is made there', async () => {
  rmSync(join(directory, 'agent-notes'), { recursive: true });
  await note('k2', 'second');
  expect(times('bak', 'second')).toBe(1);
  expect(() => times('agent-notes', 'second')).toThrow('ENOENT');
});
