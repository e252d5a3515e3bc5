import { BIN } from '../built.ts';
import { command, gitStatus } from '../commands.ts';
import { compare, type Row, timed } from '../measure.ts';
import type { Stage } from '../stage.ts';

/** What a person waits for at the prompt. The daemon runs before and after. */
export async function clientCases(stage: Stage, rounds: number): Promise<readonly Row[]> {
  const start = await compare({
    name: '`start` until ready',
    rounds: Math.min(rounds, 7),
    aim: { atMost: 30 },
    baseline: gitStatus(stage),
    measured: {
      what: 'orchestrator start',
      unit: 'ms',
      once: async () => {
        await stage.cli('stop', '--now').catch(() => undefined);
        return timed(() => stage.cli('start'));
      },
    },
  });
  const status = await compare({
    name: '`orchestrator status`',
    rounds: rounds * 2,
    aim: { atMost: 2 },
    baseline: {
      what: 'node -e 0',
      unit: 'ms',
      once: () => timed(() => command(stage, process.execPath, ['-e', '0'])),
    },
    measured: {
      what: 'orchestrator status',
      unit: 'ms',
      once: () => timed(() => command(stage, process.execPath, [BIN, 'status'])),
    },
  });
  return [start, status];
}
