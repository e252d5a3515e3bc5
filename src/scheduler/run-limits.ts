import type { RunRecord } from './records.ts';

/**
 * Which limit of the run is reached (wall clock of work, commits, net lines), in words; undefined when none is.
 * `runningMs` is the stretch of work that is not in the run's row yet.
 */
export function runLimitProblem(record: RunRecord, runningMs: number): string | undefined {
  const { run, steps } = record;
  const { limits } = run.manifest;
  const times = 1 + run.allowances;
  const activeMs = run.activeMs + runningMs;
  if (activeMs > limits.runWallClockMs * times) {
    const limit = minutes(limits.runWallClockMs * times);
    return `agents have worked ${minutes(activeMs)} minutes in this run (limit run_wall_clock: ${limit} minutes)`;
  }
  const commits = steps.filter((step) => step.commit !== undefined);
  if (commits.length > limits.commits * times) {
    return `the run made ${commits.length} commits (limit commits: ${limits.commits * times})`;
  }
  const net = commits.reduce((sum, step) => sum + (step.netLines ?? 0), 0);
  if (Math.abs(net) > limits.netLines * times) {
    return `the run changed ${net} net lines (limit net_lines: ${limits.netLines * times})`;
  }
  return undefined;
}

function minutes(ms: number): string {
  return (ms / 60_000).toFixed(ms < 600_000 ? 1 : 0);
}
