import { expect, it } from 'vitest';
import type { ObjectId } from '../../../src/domain/ids.ts';
import type { Manifest, Run } from '../../../src/domain/run.ts';
import { runLimitProblem } from '../../../src/scheduler/run-limits.ts';
import { record, step, task } from './fixtures.ts';

const limits = { runWallClockMs: 60_000, commits: 2, netLines: 100 };

function problem(given: Partial<Run>, netLines: readonly number[] = []): string | undefined {
  const steps = netLines.map((lines, index) =>
    step('T1', 'coder', { attempt: index + 1, commit: `${index}` as ObjectId, netLines: lines }),
  );
  const base = record([task('T1')], steps, given);
  return runLimitProblem({ ...base, run: { ...base.run, manifest: { limits } as unknown as Manifest } }, 0);
}

it('finds the limit that is passed, and not the one that is just reached', () => {
  expect(problem({ activeMs: 60_000 }, [50, 50])).toBeUndefined();
  expect(problem({ activeMs: 60_001 })).toContain('run_wall_clock');
  expect(problem({}, [1, 1, 1])).toContain('3 commits');
  expect(problem({}, [60, 41])).toContain('101 net lines');
  expect(problem({}, [-60, -41])).toContain('-101 net lines');
  expect(problem({}, [160, -61])).toBeUndefined();
});

it('gives the same allowance again', () => {
  expect(problem({ allowances: 1, activeMs: 120_000 }, [1, 1, 1, 1])).toBeUndefined();
  expect(problem({ allowances: 1 }, [1, 1, 1, 1, 1])).toContain('limit commits: 4');
});
