import type { Engine } from './engine.ts';
import type { RunRecord } from './records.ts';

/** Which limit of the run is reached (wall clock of work, commits, net lines), in words; undefined when none is. */
export async function runLimitProblem(engine: Engine, record: RunRecord): Promise<string | undefined> {
  const { run, steps } = record;
  const { limits } = run.manifest;
  const times = 1 + run.allowances;
  if (run.activeMs > limits.runWallClockMs * times) {
    return `agents have worked ${minutes(run.activeMs)} minutes in this run (limit run_wall_clock ${minutes(limits.runWallClockMs * times)})`;
  }
  const commits = steps.flatMap((step) =>
    step.commit === undefined || step.start === undefined ? [] : [{ from: step.start, to: step.commit }],
  );
  if (commits.length > limits.commits * times) {
    return `the run made ${commits.length} commits (limit ${limits.commits * times})`;
  }
  let net = 0;
  for (const { from, to } of commits) {
    const files = await engine.git.numstat(await engine.git.treeOf(from), await engine.git.treeOf(to));
    net += files.reduce((sum, file) => sum + file.added - file.deleted, 0);
  }
  if (Math.abs(net) > limits.netLines * times) {
    return `the run changed ${net} net lines (limit net_lines ${limits.netLines * times})`;
  }
  return undefined;
}

function minutes(ms: number): number {
  return Math.round(ms / 60_000);
}
