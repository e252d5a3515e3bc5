import { chmod, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { ApiClient } from '../../src/api/client.ts';
import type { Reply, ScriptRequest } from '../../src/cli/demo/script.ts';
import { BIN, built } from './built.ts';
import { command, type Place, userEnvironment } from './commands.ts';

/** The checkout with the product set up in it, in front of a model whose coders wait until they are let go. */
export interface Stage extends Place {
  readonly state: string;
  cli(...args: readonly string[]): Promise<string>;
  /** A client of the running daemon. */
  connect(): Promise<ApiClient>;
  /** Resolves with the time (`performance.now()`) at which the next request of a coder arrives. */
  nextCoderRequest(): Promise<number>;
  readonly coderRequests: number;
  close(): Promise<void>;
}

const ROLES = ['PLANNER', 'CODER', 'TEST', 'REVIEWER'];

export async function openStage(options: { checkout: string; state: string }): Promise<Stage> {
  const { checkout: cwd, state } = options;
  const env = userEnvironment(state);
  const letGo = Promise.withResolvers<void>();
  let arrived = 0;
  let waiting: ((at: number) => void) | undefined;
  const { startScriptedModel } = await built.scriptedModel();
  const model = await startScriptedModel({
    script: async (request) => {
      if (request.role !== 'coder') return planned(request);
      arrived += 1;
      waiting?.(performance.now());
      waiting = undefined;
      await letGo.promise;
      return { text: 'Nothing more to do.' };
    },
  });
  const cli = (...args: readonly string[]) => command({ cwd, env }, process.execPath, [BIN, ...args]);
  await cli('init', '--yes', '--profile', 'cpython');
  await writeEnvironment(path.join(state, '.env'), model.url);
  return {
    cwd,
    env,
    state,
    cli,
    connect: async () => {
      const { socket } = JSON.parse(await cli('path', '--json')) as { socket: string };
      return (await built.api()).connectApi(socket, { uid: process.getuid?.() ?? 0 });
    },
    nextCoderRequest: () =>
      new Promise((resolve) => {
        waiting = resolve;
      }),
    get coderRequests() {
      return arrived;
    },
    async close() {
      letGo.resolve();
      await cli('stop', '--now').catch(() => undefined);
      await model.stop();
    },
  };
}

/** As many tasks as the request says, that do not overlap. */
function planned(request: ScriptRequest): Reply {
  if (request.turn > 0) return { text: 'Planned.' };
  const first = request.messages[0]?.text ?? '';
  const count = Number(/bench with (\d+) tasks/.exec(first)?.[1] ?? 1);
  const tasks = Array.from({ length: count }, (_, n) => ({
    title: `task ${n}`,
    steps: ['coder'],
    expected_paths: [`Lib/part_${n}/module_${n}.py`],
    instructions: 'Wait.',
  }));
  return { text: 'A plan.', toolCalls: [{ name: 'submit_plan', input: { tasks } }] };
}

async function writeEnvironment(file: string, url: string): Promise<void> {
  const lines = ROLES.flatMap((name) => [
    `ORCH_KEY_${name}=sk-${name}-0123456789abcdef`,
    `ORCH_MODEL_${name}=scripted`,
  ]);
  await writeFile(file, `ORCH_BASE_URL=${url}\n${lines.join('\n')}\n`);
  await chmod(file, 0o600);
}
