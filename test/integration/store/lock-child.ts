// Takes the daemon lock, prints what came of it, and holds it until it is killed. argv: lock path.
import { acquireDaemonLock } from '../../../src/store/sqlite/lock.ts';

const lock = await acquireDaemonLock(process.argv[2] ?? '');
process.stdout.write('release' in lock ? 'held\n' : `refused ${lock.heldBy.pid}\n`);
setInterval(() => undefined, 1000);
