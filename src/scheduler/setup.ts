import { createHash } from 'node:crypto';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { OrchestratorError } from '../domain/errors.ts';
import type { ObjectId, RunId } from '../domain/ids.ts';
import type { View } from '../sandbox/sandbox.ts';
import { eventWrite } from '../store/events.ts';
import type { Workspace } from '../workspace/workspace.ts';
import { runInView } from './command.ts';
import { commit, type Engine } from './engine.ts';

const SETUP_TIMEOUT_MS = 60 * 60_000;

/** Runs `workspace.setup` once per slot and base; the marker lies beside the tree, outside every view. */
export async function setupWorkspace(
  engine: Engine,
  options: { workspace: Workspace; view: View; base: ObjectId; run: RunId },
): Promise<void> {
  const { setup } = engine.policies.active().global.workspace;
  if (setup.length === 0) return;
  const marker = path.join(path.dirname(options.workspace.root), 'setup-done');
  const wanted = createHash('sha256')
    .update(JSON.stringify([options.base, setup]))
    .digest('hex');
  if ((await readFile(marker, 'utf8').catch(() => '')) === wanted) return;
  for (const command of setup) {
    await commit(engine.store, [
      eventWrite({
        at: engine.clock.now(),
        type: 'workspace-setup',
        run: options.run,
        data: { command, slot: options.workspace.slot },
      }),
    ]);
    const result = await runInView(engine, { view: options.view, command, timeoutMs: SETUP_TIMEOUT_MS, env: {} });
    if (result.code !== 0) {
      throw new OrchestratorError(
        'failed',
        `workspace.setup failed in ${options.workspace.slot}: \`${command}\` ended with ${result.code}`,
        {
          details: [result.output.slice(-2000)],
        },
      );
    }
  }
  await mkdir(path.dirname(marker), { recursive: true });
  await writeFile(marker, wanted);
}
