import { describe, expect, it } from 'vitest';
import { expectedPathsOverlap } from '../../../src/scheduler/overlap.ts';
import { task } from './fixtures.ts';

const tracked = [
  'src/pkg/core.py',
  'src/pkg/util.py',
  'tests/test_core.py',
  'Lib/test/test_json.py',
  'Lib/json/decoder.py',
];

function overlap(left: readonly string[], right: readonly string[]): boolean {
  const first = task('T1', { plan: { expectedPaths: left } });
  const second = task('T2', { plan: { expectedPaths: right } });
  const one = expectedPathsOverlap(first, second, tracked);
  expect(expectedPathsOverlap(second, first, tracked)).toBe(one);
  return one;
}

describe('expectedPathsOverlap', () => {
  it.each([
    [['src/pkg/core.py'], ['src/pkg/core.py'], true],
    [['src/pkg/core.py'], ['src/pkg/util.py'], false],
    [['src/**'], ['src/pkg/util.py'], true],
    [['src/pkg/*.py'], ['src/**/util.py'], true],
    [['src/**'], ['tests/**'], false],
    [['src/new.py'], ['src/new.py'], true],
    [['src/new/**'], ['src/new/deep/*.py'], true],
    [['Lib/**'], ['Lib/test/**'], true],
    [['src/{a,b}.py'], ['src/a.py'], true],
    [[], ['src/**'], false],
  ] as const)('%j and %j: %s', (left, right, expected) => {
    expect(overlap(left, right)).toBe(expected);
  });
});
