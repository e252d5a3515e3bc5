import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Child, startChild } from '../child.ts';
import { monotonicMs } from '../children/tell.ts';
import { compare, type Row, type Side } from '../measure.ts';

/** From a write to the moment a watcher in another process hears of it; the two watchers have a tree each. */
export async function watchCases(trees: readonly [string, string], rounds: number): Promise<readonly Row[]> {
  const { child: bare } = await startChild('watch-bare', [trees[0]]);
  try {
    const { child: product } = await startChild('watch-product', [trees[1]]);
    try {
      return [
        await compare({
          name: 'write → watch event (p50)',
          rounds: rounds * 5,
          aim: { atMost: 5 },
          baseline: hearing('fs.watch per directory', bare, trees[0]),
          measured: hearing('the daemon’s watcher', product, trees[1]),
        }),
      ];
    } finally {
      await product.stop();
    }
  } finally {
    await bare.stop();
  }
}

function hearing(what: string, child: Child, root: string): Side {
  let written = 0;
  return {
    what,
    unit: 'ms',
    once: async () => {
      // Longer than the quiet time after which a burst counts as over.
      await sleep(700);
      const file = 'Lib/keyword.py';
      written += 1;
      const from = monotonicMs();
      const heard = hearOf(child, file, from);
      await writeFile(path.join(root, file), `written ${written}\n`);
      return (await heard) - from;
    },
  };
}

/** One write can ring more than once: what is older than this write is the rest of an earlier one. */
async function hearOf(child: Child, file: string, from: number): Promise<number> {
  for (let n = 0; n < MOST_EVENTS; n += 1) {
    const told = await child.hear<{ path: string; at: number }>();
    if (told.path === file && told.at >= from) return told.at;
  }
  throw new Error(`no event named ${file}`);
}

const MOST_EVENTS = 100;
