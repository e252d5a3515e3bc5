// Writes numbered events one after the other and prints each number once it is acknowledged. argv: database path.
import { eventWrite } from '../../../src/store/events.ts';
import { openSqliteStore } from '../../../src/store/sqlite/open.ts';

const path = process.argv[2] ?? '';
const store = await openSqliteStore({ path, nowMs: 1 });
for (let number = 1; number <= 100_000; number++) {
  try {
    await store.write([eventWrite({ at: 1, type: 'row', data: { number, filler: 'x'.repeat(2000) } })]);
    process.stdout.write(`${number}\n`);
  } catch (error) {
    process.stdout.write(`error ${String(error)}\n`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
