import { expect, it } from 'vitest';
import { createRunClock } from '../../../src/scheduler/run-clock.ts';
import { RUN } from './fixtures.ts';

it('counts agents side by side once and the time between them not at all', () => {
  let now = 1000;
  const clock = createRunClock({ now: () => now });
  clock.enter(RUN);
  now += 10;
  clock.enter(RUN);
  now += 10;
  expect(clock.leave(RUN)).toBe(0);
  expect(clock.running(RUN)).toBe(20);
  now += 10;
  expect(clock.leave(RUN)).toBe(30);
  now += 500;
  expect(clock.running(RUN)).toBe(0);
  clock.enter(RUN);
  now += 7;
  expect(clock.leave(RUN)).toBe(7);
  expect(clock.leave(RUN)).toBe(0);
});
