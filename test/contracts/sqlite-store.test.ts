import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openSqliteStore } from '../../src/store/sqlite/open.ts';
import { storeContract } from './store.contract.ts';

storeContract('sqlite', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'orch-store-'));
  const store = await openSqliteStore({ path: join(directory, 'state.db'), nowMs: 1 });
  let closed = false;
  return {
    store: {
      ...store,
      async close() {
        closed = true;
        await store.close();
      },
    },
    async dispose() {
      if (!closed) await store.close();
      rmSync(directory, { recursive: true, force: true });
    },
  };
});
