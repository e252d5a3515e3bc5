import { execFile } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/**
 * A tree with the shape of CPython 3.11: as many files and directories, the same types, and sizes drawn from that
 * tree's distribution (twenty quantiles and the ten largest files). The same bytes on every machine.
 */
export async function makeTree(root: string): Promise<void> {
  const next = sequence(311);
  const text = fillText(next);
  const files = listFiles(next);
  for (const directory of new Set(files.map(({ file }) => path.dirname(file)))) {
    await mkdir(path.join(root, directory), { recursive: true });
  }
  for (const { file, size } of files) {
    const from = Math.floor(next() * (text.length / 2));
    const bytes = Buffer.alloc(size, text.subarray(from));
    await writeFile(path.join(root, file), bytes);
  }
}

/** Committed and packed, as a checkout is that was cloned. */
export async function commitTree(root: string): Promise<void> {
  const git = (...args: string[]) => run('git', args, { cwd: root, maxBuffer: 64 * 1024 * 1024 });
  await git('init', '-q', '-b', 'main');
  await git('config', 'user.name', 'Ada Example');
  await git('config', 'user.email', 'ada@example.invalid');
  await git('-c', 'core.compression=1', 'add', '-A');
  await git('commit', '-qm', 'base');
  await git('gc', '-q');
  await git('status');
}

const FILES = 4450;

/** Directories, how many lie below each, and which share of the files they hold. */
const AREAS: readonly { at: string; directories: number; share: number; types: readonly string[] }[] = [
  { at: 'Lib', directories: 70, share: 0.24, types: ['.py'] },
  { at: 'Lib/test', directories: 90, share: 0.29, types: ['.py', '.py', '.py', '.txt', '.xml', '.decTest'] },
  { at: 'Doc', directories: 40, share: 0.14, types: ['.rst', '.rst', '.rst', '.py'] },
  { at: 'Modules', directories: 40, share: 0.1, types: ['.c', '.h', '.c', '.py'] },
  { at: 'Include', directories: 8, share: 0.06, types: ['.h'] },
  { at: 'Objects', directories: 4, share: 0.03, types: ['.c', '.h'] },
  { at: 'Python', directories: 4, share: 0.03, types: ['.c', '.h'] },
  { at: 'PC', directories: 20, share: 0.05, types: ['.vcxproj', '.c', '.filters'] },
  { at: 'Tools', directories: 40, share: 0.06, types: ['.py', '.bat', '.wxs'] },
];

/** What detection and the policies look for. */
const LANDMARKS = ['Include/patchlevel.h', 'Grammar/python.gram', 'Lib/keyword.py', 'configure.ac', 'README.rst'];

function listFiles(next: () => number): readonly { file: string; size: number }[] {
  const files: { file: string; size: number }[] = LANDMARKS.map((file) => ({ file, size: 900 }));
  for (const { at, directories, share, types } of AREAS) {
    const count = Math.round(share * FILES);
    for (let n = 0; n < count; n += 1) {
      // Most files lie in few directories: half of an area's are in its top.
      const place = next() < 0.5 ? at : `${at}/part_${Math.floor(next() * directories)}`;
      files.push({ file: `${place}/module_${n}${types[n % types.length]}`, size: sizeOf(next) });
    }
  }
  const kept = files.slice(0, FILES);
  return kept.map((entry, index) => ({ ...entry, size: LARGEST[index - LANDMARKS.length] ?? entry.size }));
}

const QUANTILES = [
  0, 72, 266, 547, 845, 1146, 1647, 2270, 2956, 3892, 4876, 6147, 7816, 10_091, 12_787, 16_356, 22_500, 32_046, 47_982,
  78_396, 200_000,
];
const LARGEST = [
  756_209, 845_975, 1_232_695, 1_352_252, 1_355_259, 1_437_743, 1_569_553, 2_051_534, 2_287_553, 4_289_021,
];

function sizeOf(next: () => number): number {
  const place = next() * (QUANTILES.length - 1);
  const lower = QUANTILES[Math.floor(place)] ?? 0;
  const upper = QUANTILES[Math.ceil(place)] ?? lower;
  return Math.round(lower + (upper - lower) * (place % 1));
}

/** Lines of words: compresses about as well as source code. */
function fillText(next: () => number): Buffer {
  const words = Array.from({ length: 3000 }, () =>
    Math.floor(next() * 2 ** 40)
      .toString(36)
      .slice(0, 2 + Math.floor(next() * 7)),
  );
  const parts: string[] = [];
  for (let bytes = 0; bytes < 2 ** 21; ) {
    const word = words[Math.floor(next() * next() * words.length)] ?? '';
    const part = next() < 0.12 ? `${word}\n    ` : `${word} `;
    parts.push(part);
    bytes += part.length;
  }
  return Buffer.from(parts.join(''));
}

/** Numbers in [0, 1), the same for the same seed (mulberry32). */
function sequence(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
