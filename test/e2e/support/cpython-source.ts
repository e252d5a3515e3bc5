import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmod, lstat, mkdir, mkdtemp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { sourcePackageFiles } from './apt-sources.ts';

const run = promisify(execFile);
const PACKAGE = 'python3.11';
const LONGEST_MS = 240_000;

/** The upstream tarball of a Debian source package, as its `.dsc` describes it. */
interface Upstream {
  readonly file: string;
  readonly sha256: string;
}

/** Makes `project` a git repository with one commit: CPython 3.11 as Debian's source package has it. */
export async function makeCpythonRepository(project: string): Promise<void> {
  const tarball = await cpythonTarball();
  await mkdir(project, { recursive: true });
  const options = { cwd: project, maxBuffer: 64 * 1024 * 1024 };
  await run('tar', ['-xf', tarball, '--strip-components=1', '--no-same-owner'], options);
  const commands = [
    ['init', '-q', '-b', 'main'],
    ['config', 'user.name', 'Ada Example'],
    ['config', 'user.email', 'ada@example.invalid'],
    ['add', '-A'],
    ['commit', '-q', '-m', 'CPython 3.11'],
  ];
  for (const command of commands) await run('git', command, options);
}

/** Downloads the source package once a machine, without touching the system's own apt lists and caches. */
async function cpythonTarball(): Promise<string> {
  const cache = path.join(tmpdir(), 'orch-cpython-source');
  await ownDirectory(cache);
  const cached = await usableTarball(cache);
  if (cached !== undefined) return cached;
  const fresh = await mkdtemp(path.join(cache, 'part-'));
  try {
    await download(fresh);
    for (const name of await readdir(fresh)) {
      if (name.startsWith(`${PACKAGE}_`)) await rename(path.join(fresh, name), path.join(cache, name));
    }
  } finally {
    await rm(fresh, { recursive: true, force: true });
  }
  const tarball = await usableTarball(cache);
  if (tarball === undefined)
    throw new Error(`apt-get source ${PACKAGE} left no tarball in ${cache} that its .dsc describes`);
  return tarball;
}

/** What lies there is unpacked and run: it must be nobody else's. */
async function ownDirectory(directory: string): Promise<void> {
  await mkdir(directory, { mode: 0o700 }).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error;
  });
  const found = await lstat(directory);
  if (!found.isDirectory() || found.uid !== process.getuid?.())
    throw new Error(`${directory} belongs to somebody else`);
  await chmod(directory, 0o700);
}

async function usableTarball(cache: string): Promise<string | undefined> {
  const descriptions = (await readdir(cache)).filter((name) => name.endsWith('.dsc')).toSorted();
  for (const description of descriptions.toReversed()) {
    const upstream = readDescription(await readFile(path.join(cache, description), 'utf8'));
    const content = upstream && (await readFile(path.join(cache, upstream.file)).catch(() => undefined));
    if (content === undefined) continue;
    if (createHash('sha256').update(content).digest('hex') === upstream?.sha256) return path.join(cache, upstream.file);
  }
  return undefined;
}

function readDescription(text: string): Upstream | undefined {
  const sums = /^Checksums-Sha256:\s*\n((?: .*\n)*)/m.exec(text)?.[1] ?? '';
  const [, sha256, file] = /^ ([0-9a-f]{64}) \d+ (\S+\.orig\.tar\.\w+)$/m.exec(sums) ?? [];
  return sha256 === undefined || file === undefined ? undefined : { sha256, file };
}

async function download(directory: string): Promise<void> {
  const parts = path.join(directory, 'sources');
  for (const name of [
    parts,
    path.join(directory, 'lists', 'partial'),
    path.join(directory, 'cache', 'archives', 'partial'),
  ]) {
    await mkdir(name, { recursive: true });
  }
  for (const [name, content] of await sourcePackageFiles()) await writeFile(path.join(parts, name), content);
  const settings = {
    'Dir::State::lists': path.join(directory, 'lists'),
    'Dir::Cache': path.join(directory, 'cache'),
    'Dir::Etc::sourcelist': '-',
    'Dir::Etc::sourceparts': parts,
    // As root apt would become a user that cannot write here.
    ...(process.getuid?.() === 0 ? { 'APT::Sandbox::User': 'root' } : {}),
  };
  const given = Object.entries(settings).flatMap(([name, value]) => ['-o', `${name}=${value}`]);
  await aptGet(directory, [...given, 'update']);
  await aptGet(directory, [...given, 'source', '--download-only', PACKAGE]);
}

async function aptGet(cwd: string, command: readonly string[]): Promise<void> {
  const options = { cwd, timeout: LONGEST_MS, maxBuffer: 16 * 1024 * 1024 };
  await run('apt-get', ['-q', '-y', ...command], options).catch((error: Error & { stderr?: string }) => {
    throw new Error(
      `Debian's source package ${PACKAGE} is needed for this test and could not be had (apt-get ${command.at(-1)}): ${error.stderr ?? error.message}`,
    );
  });
}
