// Makes dist/ from src/: types checked and stripped by tsc, SQL beside the modules that read it. Built aside and renamed
// into place, so that a package that is being packed or run meanwhile is never half there.
import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, renameSync, rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const aside = `${root}dist.new-${process.pid}`;
const old = `${root}dist.old-${process.pid}`;
try {
  const tsc = `${root}node_modules/typescript/bin/tsc`;
  execFileSync(process.execPath, [tsc, '-p', `${root}tsconfig.build.json`, '--outDir', aside], {
    stdio: 'inherit',
    cwd: root,
  });
  for (const folder of ['sql', 'migrations']) {
    cpSync(`${root}src/store/sqlite/${folder}`, `${aside}/store/sqlite/${folder}`, { recursive: true });
  }
  if (existsSync(`${root}dist`)) renameSync(`${root}dist`, old);
  renameSync(aside, `${root}dist`);
} finally {
  rmSync(aside, { recursive: true, force: true });
  rmSync(old, { recursive: true, force: true });
}
