// Makes dist/ from src/: types checked and stripped by tsc, SQL beside the modules that read it.
import { execFileSync } from 'node:child_process';
import { cpSync, rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
rmSync(`${root}dist`, { recursive: true, force: true });
execFileSync(process.execPath, [`${root}node_modules/typescript/bin/tsc`, '-p', `${root}tsconfig.build.json`], {
  stdio: 'inherit',
  cwd: root,
});
for (const folder of ['sql', 'migrations']) {
  cpSync(`${root}src/store/sqlite/${folder}`, `${root}dist/store/sqlite/${folder}`, { recursive: true });
}
