import { fileURLToPath } from 'node:url';

/** The rooms as the package ships them, with the types of their source. */
export const built = {
  api: () => load<typeof import('../../src/api/client.ts')>('api/client'),
  admission: () => load<typeof import('../../src/gateway/admission.ts')>('gateway/admission'),
  dayWindow: () => load<typeof import('../../src/gateway/day-window.ts')>('gateway/day-window'),
  decide: () => load<typeof import('../../src/policy/decide.ts')>('policy/decide'),
  gateway: () => load<typeof import('../../src/gateway/start-gateway.ts')>('gateway/start-gateway'),
  journal: () => load<typeof import('../../src/gateway/journal.ts')>('gateway/journal'),
  policies: () => load<typeof import('../../src/policy/load.ts')>('policy/load'),
  pool: () => load<typeof import('../../src/workspace/pool.ts')>('workspace/pool'),
  prices: () => load<typeof import('../../src/gateway/prices.ts')>('gateway/prices'),
  scriptedModel: () => load<typeof import('../../src/cli/demo/scripted-model.ts')>('cli/demo/scripted-model'),
  store: () => load<typeof import('../../src/store/sqlite/open.ts')>('store/sqlite/open'),
  storeGit: () => load<typeof import('../../src/git/store-git.ts')>('git/store-git'),
  watcher: () => load<typeof import('../../src/watch/start-watcher.ts')>('watch/start-watcher'),
};

export const BIN = fileURLToPath(new URL('../../bin/orchestrator.cjs', import.meta.url));

async function load<Room>(room: string): Promise<Room> {
  return (await import(new URL(`../../dist/${room}.js`, import.meta.url).href)) as Room;
}
