import { extname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { placesOf } from '../../sandbox/sandbox.ts';
import type { Assignment } from '../runner.ts';
import type { Toolbox } from './toolbox.ts';
import { offeredTools } from './tools/offered-tools.ts';
import { failed } from './tools/outcome.ts';
import { connectWorker } from './tools/worker-client.ts';
import type { WorkerSettings } from './worker/protocol.ts';

export interface OpenToolboxOptions {
  readonly assignment: Assignment;
  /** What commands get of the daemon's environment. */
  readonly environment: { readonly path: string; readonly lang: string };
  /** `generated.sources` of the global policy, named when a write to such a file is refused. */
  readonly generatedSources?: readonly { readonly output: string; readonly command: string }[];
  readonly workerEntry?: string;
}

/** Starts the worker in the step's view. Throws OrchestratorError when the view or the worker can't be started. */
export async function openToolbox(options: OpenToolboxOptions): Promise<Toolbox> {
  const { assignment } = options;
  const settings = workerSettings(options);
  const entry =
    options.workerEntry ?? fileURLToPath(new URL(`./worker/main${extname(import.meta.url)}`, import.meta.url));
  const launched = assignment.sandbox.launch(assignment.view, {
    argv: [process.execPath, '--disable-warning=ExperimentalWarning', entry, JSON.stringify(settings)],
    cwd: assignment.view.tree,
    env: settings.commandEnv,
    network: assignment.policy.run.network,
  });
  const worker = await connectWorker(launched, START_TIMEOUT_MS);
  const tools = offeredTools(assignment.policy.tools, assignment.submits);
  const byName = new Map(tools.map((tool) => [tool.definition.name, tool]));
  const generatedSources = options.generatedSources ?? [];
  return {
    definitions: tools.map((tool) => tool.definition),
    execute: async (call, { turn, signal }) => {
      const tool = byName.get(call.name);
      if (tool === undefined) {
        return failed(`There is no tool ${call.name} for this role. Offered: ${[...byName.keys()].join(', ')}.`);
      }
      return tool.execute({ assignment, worker, call, turn, signal, generatedSources });
    },
    end: () => worker.end(),
  };
}

const START_TIMEOUT_MS = 30_000;

function workerSettings(options: OpenToolboxOptions): WorkerSettings {
  const { agent, view, policy, gateway, sandbox } = options.assignment;
  // Built from nothing, so that no key of the daemon's environment can come along.
  const commandEnv = {
    PATH: options.environment.path,
    ...placesOf(view),
    LANG: options.environment.lang,
    TERM: 'dumb',
    ORCH_AGENT: agent,
  };
  // Without a network namespace of the view's own, the gateway itself is on this loopback.
  const hasOwnLoopback = policy.run.network === 'none' && sandbox.probe.mode === 'bwrap';
  const relay = hasOwnLoopback ? { relay: { port: gateway.port, socketPath: gateway.socketPath } } : {};
  return { tree: view.tree, commandEnv, ...relay };
}
