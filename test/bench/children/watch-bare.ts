import { readdirSync, watch } from 'node:fs';
import path from 'node:path';
import { monotonicMs, tell } from './tell.ts';

// One fs.watch a directory and nothing else: what the platform gives.
const root = process.argv[2] ?? '';
const directories = readdirSync(root, { withFileTypes: true, recursive: true })
  .filter((entry) => entry.isDirectory())
  .map((entry) => path.join(entry.parentPath, entry.name))
  .filter((directory) => !directory.split(path.sep).includes('.git'));
for (const directory of [root, ...directories]) {
  watch(directory, (_event, name) => {
    tell({ path: path.relative(root, path.join(directory, name ?? '')), at: monotonicMs() });
  });
}
process.once('disconnect', () => process.exit(0));
tell('ready');
