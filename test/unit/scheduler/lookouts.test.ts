import { expect, it, vi } from 'vitest';
import { createLookouts } from '../../../src/scheduler/lookouts.ts';

const log = { info: () => undefined, warn: vi.fn(), error: () => undefined };

it('looks at once, not again within a moment, and never twice at a time', async () => {
  let now = 0;
  const ends: (() => void)[] = [];
  const look = vi.fn(() => new Promise<void>((resolve) => ends.push(resolve)));
  const lookouts = createLookouts({ now: () => now }, log);
  lookouts.open('/tree', look);
  lookouts.alarm('/tree');
  expect(look).toHaveBeenCalledTimes(1);
  now = 10_000;
  lookouts.alarm('/tree');
  expect(look).toHaveBeenCalledTimes(1);
  ends[0]?.();
  await Promise.resolve().then(() => undefined);
  await new Promise((resolve) => setImmediate(resolve));
  lookouts.alarm('/tree');
  expect(look).toHaveBeenCalledTimes(2);
  ends[1]?.();
  await new Promise((resolve) => setImmediate(resolve));
  now += 1000;
  lookouts.alarm('/tree');
  expect(look).toHaveBeenCalledTimes(2);
  lookouts.close('/tree');
  now += 10_000;
  lookouts.alarm('/tree');
  expect(look).toHaveBeenCalledTimes(2);
});

it('survives a look that fails', async () => {
  const lookouts = createLookouts({ now: () => 0 }, log);
  lookouts.open('/tree', async () => {
    throw new Error('disk');
  });
  lookouts.alarm('/tree');
  await new Promise((resolve) => setImmediate(resolve));
  expect(log.warn).toHaveBeenCalledWith({ root: '/tree', error: 'disk' }, expect.stringContaining('failed'));
});
