import { built } from '../built.ts';
import { monotonicMs, tell } from './tell.ts';

const root = process.argv[2] ?? '';
const { startWatcher } = await built.watcher();
const watcher = startWatcher({
  clock: { now: Date.now },
  listener: {
    onChange: (_tree, paths) => {
      for (const path of paths) tell({ path, at: monotonicMs() });
    },
    onReconcile: () => undefined,
    onDegraded: (reason) => {
      throw new Error(reason);
    },
  },
});
await watcher.add({ root, kind: 'workspace' });
process.once('disconnect', async () => {
  await watcher.stop();
  process.exit(0);
});
tell('ready');
