import { mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { readViolations } from '../checkpoints/records.ts';
import { OrchestratorError } from '../domain/errors.ts';
import type { ObjectId } from '../domain/ids.ts';
import { normalizeRepoPath, type RepoPath } from '../domain/path.ts';
import type { Engine } from './engine.ts';

/**
 * Finds the newest content that a role had for a path (in its recorded snapshots, or in a quarantined patch) and puts
 * it beside nothing of the user's: it is written to `restored/` in the state directory, for the user to look at.
 */
export async function restorePath(
  engine: Engine,
  request: { role: string; path: string },
): Promise<{ message: string }> {
  const wanted = normalizeRepoPath(request.path);
  if (wanted === undefined) throw new OrchestratorError('usage', `${request.path} is not a path inside the repository`);
  const quarantined = readViolations(engine.store)
    .filter(
      (violation) => violation.role === request.role && violation.path === wanted && violation.patch !== undefined,
    )
    .at(-1);
  const found = await newestSnapshot(engine, request.role, wanted);
  if (found === undefined && quarantined === undefined) {
    throw new OrchestratorError(
      'usage',
      `${request.role} has no recorded content for ${request.path}; \`orchestrator violations\` lists what was put aside`,
    );
  }
  const lines: string[] = [];
  if (found !== undefined) {
    const file = await writeRestored(engine, request.role, wanted, found.content);
    lines.push(`${request.path} as ${request.role} had it (${found.where}) is at ${file}`);
  }
  if (quarantined?.patch !== undefined) {
    await readFile(quarantined.patch);
    lines.push(`the change that was put aside is the patch ${quarantined.patch} (look at it, then \`git apply\`)`);
  }
  return { message: lines.join('\n') };
}

async function newestSnapshot(
  engine: Engine,
  role: string,
  wanted: RepoPath,
): Promise<{ content: Buffer; where: string } | undefined> {
  for (const row of engine.store.read('snapshot-list', { role })) {
    const tree = await engine.git.resolve(String(row['tree']));
    const entry = tree === undefined ? undefined : await engine.git.entry(row['tree'] as ObjectId, wanted);
    if (entry !== undefined) {
      return { content: await engine.git.readBlob(entry.blob), where: `${row['run']}/${row['task']}` };
    }
  }
  return undefined;
}

async function writeRestored(engine: Engine, role: string, wanted: RepoPath, content: Buffer): Promise<string> {
  const directory = path.join(engine.paths.state, 'restored', role, path.dirname(wanted));
  await mkdir(directory, { recursive: true, mode: 0o700 });
  const file = path.join(directory, path.basename(wanted));
  await writeFile(file, content, { mode: 0o600 });
  return file;
}
