import { defineConfig } from 'vitest/config';

/** The long figures, not in CI: one after the other, since most of them are times. */
export default defineConfig({
  test: {
    name: 'campaign',
    include: ['test/campaign/**/*.test.ts', 'test/e2e/crash.test.ts'],
    globalSetup: ['test/e2e/support/install.ts'],
    env: { ORCH_KILLS: process.env['ORCH_KILLS'] ?? '20' },
    testTimeout: 600_000,
    hookTimeout: 300_000,
    maxWorkers: 1,
    fileParallelism: false,
  },
});
