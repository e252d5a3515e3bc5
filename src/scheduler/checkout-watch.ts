import { copyFile, lstat, mkdir } from 'node:fs/promises';
import path from 'node:path';
import { violationWrites } from '../checkpoints/records.ts';
import type { RepoPath } from '../domain/path.ts';
import type { Violation } from '../domain/violation.ts';
import { eventWrite } from '../store/events.ts';
import type { Write } from '../store/store.ts';
import { attribute, type RunningStep } from '../watch/attribute.ts';
import { type CheckoutChange, type CheckoutState, checkoutChanges } from '../watch/checkout-changes.ts';
import { commit, type Engine } from './engine.ts';
import { readActiveRuns } from './records.ts';

export interface CheckoutWatch {
  /** Looks at the user's checkout again; looks that come meanwhile are one. */
  look(): Promise<void>;
}

/**
 * Sees writes into the user's checkout while agents run. With a sandbox they are the human's own and only noted; without
 * one they may be an agent's absolute path: a copy is kept and a violation says so, without naming whom it can't prove.
 * Nothing in the checkout is ever put back: it is the user's.
 */
export function watchCheckout(engine: Engine): CheckoutWatch {
  let before: CheckoutState | undefined;
  let looking: Promise<void> | undefined;
  async function look(): Promise<void> {
    const after = await stateOf(engine);
    const running = runningSteps(engine);
    const changes = before === undefined ? [] : checkoutChanges(before, after);
    before = after;
    if (changes.length > 0 && running.length > 0) await report(engine, changes, running);
  }
  return {
    look() {
      looking ??= look().finally(() => {
        looking = undefined;
      });
      return looking;
    },
  };
}

async function report(
  engine: Engine,
  changes: readonly CheckoutChange[],
  running: readonly RunningStep[],
): Promise<void> {
  const tree = { root: engine.user.root, kind: 'checkout' as const };
  const { attribution, evidence } = attribute({ tree, running, sandboxMode: engine.sandbox.probe.mode });
  const at = engine.clock.now();
  const run = running[0]?.run;
  const rows: Write[] = [
    eventWrite({
      at,
      type: 'checkout-changed',
      run,
      data: { attribution, evidence, paths: changes.map((change) => change.path) },
    }),
  ];
  if (attribution !== 'human') {
    for (const change of changes.filter((each) => each.kind !== 'cleared')) {
      const patch = run === undefined ? undefined : await keepCopy(engine, run, change.path);
      const violation: Violation = {
        id: `v-${engine.random(8)}`,
        path: change.path,
        operation: change.kind === 'appeared' ? 'create' : 'modify',
        decision: 'out',
        rule: "the checkout is nobody's workspace",
        attribution,
        tree: 'checkout',
        detectedBy: 'watch',
        detectedAt: at,
        resolution: 'quarantined',
        ...(run === undefined ? {} : { run }),
        ...(running.length === 1 && running[0] !== undefined ? { task: running[0].task, role: running[0].role } : {}),
        ...(patch === undefined ? {} : { patch }),
      };
      rows.push(...violationWrites(violation));
    }
  }
  await commit(engine.store, rows);
}

async function keepCopy(engine: Engine, run: string, changed: RepoPath): Promise<string | undefined> {
  const directory = path.join(engine.paths.runs, run, 'staging');
  const file = path.join(directory, `checkout-${engine.clock.now()}-${path.basename(changed)}`);
  try {
    await mkdir(directory, { recursive: true, mode: 0o700 });
    await copyFile(path.join(engine.user.root, changed), file);
    return file;
  } catch {
    return undefined;
  }
}

async function stateOf(engine: Engine): Promise<CheckoutState> {
  const state = new Map<RepoPath, string>();
  for (const dirty of await engine.user.dirtyPaths()) {
    const found = await lstat(path.join(engine.user.root, dirty)).catch(() => undefined);
    state.set(dirty, found === undefined ? 'gone' : `${found.mtimeMs} ${found.size} ${found.ino}`);
  }
  return state;
}

function runningSteps(engine: Engine): readonly RunningStep[] {
  return readActiveRuns(engine.store).flatMap((record) =>
    record.steps.filter((step) => step.state === 'running').map(({ run, task, role }) => ({ run, task, role })),
  );
}
