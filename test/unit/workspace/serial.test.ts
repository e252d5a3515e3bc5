import { expect, it } from 'vitest';
import { createSerial } from '../../../src/workspace/serial.ts';

it('runs work in order, and a failure concerns its caller only', async () => {
  const serial = createSerial();
  const log: string[] = [];
  const first = serial(async () => {
    await new Promise((resolve) => setTimeout(resolve, 20));
    log.push('first');
    throw new Error('first failed');
  });
  const second = serial(async () => {
    log.push('second');
    return 2;
  });
  await expect(first).rejects.toThrow('first failed');
  expect(await second).toBe(2);
  expect(log).toEqual(['first', 'second']);
});
