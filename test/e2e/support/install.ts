import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { TestProject } from 'vitest/node';

const run = promisify(execFile);
const root = fileURLToPath(new URL('../../..', import.meta.url));

declare module 'vitest' {
  interface ProvidedContext {
    /** `bin/orchestrator.cjs` of the package as it was installed from the tarball into an empty prefix. */
    installedBin: string;
  }
}

/** Packs what `npm run build` made and installs the tarball into an empty prefix, once for all end-to-end tests. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const directory = await mkdtemp(path.join(tmpdir(), 'orch-e2e-install-'));
  const { stdout } = await run('npm', ['pack', '--json', '--ignore-scripts', '--pack-destination', directory], {
    cwd: root,
  });
  const tarball = path.join(directory, firstFileName(JSON.parse(stdout)));
  const prefix = path.join(directory, 'prefix');
  await run('npm', ['install', '--prefix', prefix, '--no-audit', '--no-fund', '--omit=dev', tarball], {
    cwd: directory,
  });
  project.provide('installedBin', path.join(prefix, 'node_modules', 'orchestrator', 'bin', 'orchestrator.cjs'));
  return () => rm(directory, { recursive: true, force: true });
}

/** npm 11 prints a list, npm 12 an object by package name. */
function firstFileName(report: unknown): string {
  const entries = Array.isArray(report) ? report : Object.values(report as Record<string, unknown>);
  const [first] = entries as { filename: string }[];
  if (first === undefined) throw new Error('npm pack reported no file');
  return first.filename;
}
