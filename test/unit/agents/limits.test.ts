import { describe, expect, test } from 'vitest';
import { hashCalls, hasNewResult } from '../../../src/agents/builtin/fingerprint.ts';
import { exceededLimit } from '../../../src/agents/builtin/limits.ts';
import { rolePolicy } from '../../fakes/memory-step.ts';
import { turnRecord } from '../../fakes/turn-record.ts';

const limits = rolePolicy({
  limits: { turns: 40, wallClockMs: 60_000, noProgressRounds: 3, identicalCalls: 5 },
}).limits;
const fine = { limits, allowances: 0, turns: 0, activeMs: 0, sinceResume: [] };
const turns = (hashes: string, progress = true) => [...hashes].map((callsHash) => turnRecord({ callsHash, progress }));

test('a step within its limits goes on', () => {
  expect(exceededLimit({ ...fine, turns: 39, activeMs: 59_999 })).toBeUndefined();
});

test('turns and wall clock are granted again with every allowance', () => {
  expect(exceededLimit({ ...fine, turns: 40 })).toBe('limit turns: 40 of 40 turns are used');
  expect(exceededLimit({ ...fine, turns: 40, allowances: 1 })).toBeUndefined();
  expect(exceededLimit({ ...fine, turns: 120, allowances: 2 })).toBe('limit turns: 120 of 120 turns are used');
  expect(exceededLimit({ ...fine, activeMs: 60_000 })).toBe('limit wall_clock: 1.0 of 1.0 minutes are used');
  expect(exceededLimit({ ...fine, activeMs: 60_000, allowances: 1 })).toBeUndefined();
});

test('rounds without progress count only in a row and at the end', () => {
  const idle = turnRecord({ progress: false, callsHash: 'x' });
  const busy = turnRecord({ progress: true, callsHash: 'y' });
  expect(exceededLimit({ ...fine, sinceResume: [busy, idle, idle] })).toBeUndefined();
  expect(exceededLimit({ ...fine, sinceResume: [idle, idle, busy, idle, idle] })).toBeUndefined();
  expect(exceededLimit({ ...fine, sinceResume: [idle, idle, idle] })).toContain('no_progress_rounds: 3 turns in a row');
});

test('identical calls count within a window, also when they alternate with others', () => {
  expect(exceededLimit({ ...fine, sinceResume: turns('aaaa') })).toBeUndefined();
  expect(exceededLimit({ ...fine, sinceResume: turns('abababab') })).toBeUndefined();
  expect(exceededLimit({ ...fine, sinceResume: turns('ababababa') })).toContain(
    'identical_calls: the same calls were made 5 times in the last 10 turns',
  );
  expect(exceededLimit({ ...fine, sinceResume: turns('aaaabcdefgha') })).toBeUndefined();
});

describe('fingerprints', () => {
  const call = (name: string, input: unknown, id = '1') => ({ id, name, input });

  test('ids and the order of fields do not matter; names, values and the order of calls do', () => {
    const hash = hashCalls([call('read_file', { path: 'a', limit: 3 })]);
    expect(hashCalls([call('read_file', { limit: 3, path: 'a' }, '9')])).toBe(hash);
    expect(hashCalls([call('search', { path: 'a', limit: 3 })])).not.toBe(hash);
    expect(hashCalls([call('read_file', { path: 'a', limit: 4 })])).not.toBe(hash);
    const two = [call('a', {}), call('b', {})];
    expect(hashCalls(two)).not.toBe(hashCalls(two.toReversed()));
    expect(hashCalls([call('a', { x: ['b', { c: 1, d: 2 }] })])).toBe(
      hashCalls([call('a', { x: ['b', { d: 2, c: 1 }] })]),
    );
  });

  test('a result is new only once in a step', () => {
    const result = { id: '1', text: 'same', isError: false };
    const earlier = [turnRecord({ results: [result] }), turnRecord({})];
    expect(hasNewResult(earlier, [{ ...result, id: '2' }])).toBe(false);
    expect(hasNewResult(earlier, [result, { ...result, text: 'other' }])).toBe(true);
    expect(hasNewResult(earlier, [])).toBe(false);
  });
});
