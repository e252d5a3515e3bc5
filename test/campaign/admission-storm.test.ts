import { afterEach, expect, it } from 'vitest';
import type { AgentId, RoleName } from '../../src/domain/ids.ts';
import { readReport } from '../../src/report/read-report.ts';
import { json } from '../integration/gateway/fake-upstream.ts';
import {
  balance,
  grantFor,
  type Harness,
  MESSAGES,
  post,
  settled,
  startHarness,
} from '../integration/gateway/harness.ts';
import { median, printFigures, quantile, timed } from './figures.ts';

const CALLS = 5000;
const CALLERS = 96;
const ROLES = ['planner', 'coder', 'test', 'reviewer'] as RoleName[];
/** Below what is reserved for it, as an honest provider's answers are. */
const USAGE = { input_tokens: 100, output_tokens: 80 };
const SPENT = USAGE.input_tokens + USAGE.output_tokens;
/** Enough for three calls in five. */
const CAP = CALLS * 0.6 * SPENT;

let harness: Harness | undefined;
afterEach(async () => {
  await harness?.stop();
  harness = undefined;
});

it(`${CALLS} calls of four roles on one budget never pass its cap`, async () => {
  const peaks: number[] = [];
  const running = await startHarness(
    () => async (response, seen) => {
      const { spent, held } = balance(running.store, 'run:r-1');
      peaks.push(spent + held);
      await json(200, { id: 'msg', type: 'message', role: 'assistant', content: [], usage: USAGE })(response, seen);
    },
    { maxInFlightPerKey: CALLERS / ROLES.length },
  );
  harness = running;
  const keys = ROLES.map((role) => running.gateway.issue(grantOf(role)));
  const statuses: number[] = [];
  const waits: number[] = [];
  let next = 0;
  const caller = async (key: string): Promise<void> => {
    while (next < CALLS) {
      next += 1;
      const { ms, value } = await timed(() => post(running.gateway, '/v1/messages', MESSAGES, { key }));
      waits.push(ms);
      statuses.push(value.status);
    }
  };
  const wall = await timed(() =>
    Promise.all(Array.from({ length: CALLERS }, (_, n) => caller(keys[n % keys.length] ?? ''))),
  );
  await settled(running);
  const answered = statuses.filter((status) => status === 200).length;
  const { spent, held } = balance(running.store, 'run:r-1');
  printFigures(`admission storm: ${CALLS} calls, ${CALLERS} callers, ${ROLES.length} roles, one budget`, [
    { name: 'calls', value: (CALLS * 1000) / wall.ms, unit: '/s' },
    { name: 'call, median', value: median(waits), unit: 'ms' },
    { name: 'call, 99 of 100', value: quantile(waits, 0.99), unit: 'ms' },
    { name: 'answered', value: answered, unit: 'calls' },
    { name: 'refused', value: statuses.length - answered, unit: 'calls' },
    { name: 'spent at the end', value: spent, unit: 'tokens', bound: `cap ${CAP}` },
    { name: 'most spent and held at once', value: Math.max(...peaks), unit: 'tokens', bound: `cap ${CAP}` },
  ]);
  expect(statuses).toHaveLength(CALLS);
  expect([...new Set(statuses)].sort()).toEqual([200, 402]);
  expect(Math.max(...peaks)).toBeLessThanOrEqual(CAP);
  // The positive control: the budget was used up, to less than one reservation.
  expect(spent).toBeGreaterThan(CAP - 2000);
  expect(spent).toBeLessThanOrEqual(CAP);
  expect(held).toBe(0);
  expect(spent).toBe(answered * SPENT);
  expect(running.upstream.seen).toHaveLength(answered);
  expect(readReport(running.store, { by: 'role' }).total).toMatchObject({ requests: answered, workTokens: spent });
});

function grantOf(role: RoleName) {
  return grantFor({
    role,
    agent: `r-1/T1/${role}#1` as AgentId,
    key: `real-key-of-${role}`,
    scopes: (day) => [
      { id: `task:r-1/T1/${role}`, limit: 'unlimited', label: 'task' },
      { id: 'run:r-1', limit: CAP, label: 'run' },
      { id: `day:${day}`, limit: 'unlimited', label: 'today' },
    ],
  });
}
