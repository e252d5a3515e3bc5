import type { Reply } from '../../../src/cli/demo/script.ts';
import { reply, SRC_PROJECT } from './project.ts';
import { type ShownCheckpoint, showCheckpoint } from './scenes.ts';
import { approveAll, keyOf, must, openStage, play, type Stage, type StageOptions } from './stage.ts';

export const HONEST = 'def add(a, b):\n    return b + a\n';

/** A turn that changes nothing and uses what it is told to. */
export function read(usage: NonNullable<Reply['usage']>): Reply {
  return { ...reply({ name: 'read_file', input: { path: 'src/pkg/core.py' } }), usage };
}

/** A stage whose policies are changed before the daemon starts; it is closed when that fails. */
export async function startedWith(
  options: Omit<StageOptions, 'files' | 'start'>,
  prepare: (opened: Stage) => Promise<void>,
): Promise<Stage> {
  const opened = await openStage({ files: SRC_PROJECT, start: false, ...options });
  try {
    await prepare(opened);
    await must(opened.cli(['start']));
  } catch (error) {
    await opened.close();
    throw error;
  }
  return opened;
}

/** Work tokens as the provider's own books add them up. */
export function billed({ books }: Stage): number {
  return books.reduce((sum, row) => sum + row.input + row.cacheWrite + row.output + row.cacheRead * 0.1, 0);
}

export function requestsOf({ books }: Stage, role: string): number {
  return books.filter((row) => row.key === keyOf(role)).length;
}

/** Plays a request up to its first `budget` checkpoint, which stays open. */
export async function pause(opened: Stage, request: string): Promise<{ run: string; budget: ShownCheckpoint }> {
  const { shown, asked } = await play(opened, request, {
    answer: (checkpoint) => (checkpoint.kind === 'budget' ? undefined : approveAll(checkpoint)),
  });
  const last = asked.at(-1);
  if (last?.kind !== 'budget') throw new Error(`the run ended as ${shown.state} without a budget checkpoint`);
  return { run: shown.run, budget: await showCheckpoint(opened, last.id) };
}
