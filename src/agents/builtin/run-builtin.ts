import { messageOf } from '../../domain/errors.ts';
import type { Clock } from '../../domain/ids.ts';
import type { AgentEvent, Assignment, Ending, Runner } from '../runner.ts';
import { chooseModel } from './models/choose-model.ts';
import { type LoopLog, stepLoop } from './step-loop.ts';
import type { Toolbox } from './toolbox.ts';

export interface BuiltinPorts {
  readonly openToolbox: (assignment: Assignment) => Promise<Toolbox>;
  /** Only differences are used: a monotonic clock keeps suspend out of the wall-clock limit. */
  readonly clock: Clock;
  readonly log: LoopLog;
}

/** The built-in agent: one model, the toolbox of the step, and a loop in this process. */
export function builtinRunner(ports: BuiltinPorts): Runner {
  return { run: (assignment, { signal }) => runStep(ports, assignment, signal) };
}

type Processes = Extract<AgentEvent, { type: 'ended' }>['processes'];

async function* runStep(
  ports: BuiltinPorts,
  assignment: Assignment,
  signal: AbortSignal,
): AsyncGenerator<AgentEvent, void> {
  let toolbox: Toolbox | undefined;
  let processes: Processes | undefined;
  try {
    let ending: Ending;
    try {
      const model = await chooseModel(assignment);
      toolbox = await ports.openToolbox(assignment);
      ending = yield* stepLoop({ assignment, model, toolbox, signal, clock: ports.clock, log: ports.log });
    } catch (error) {
      ending = signal.aborted ? { reason: 'interrupted' } : { reason: 'failed', message: messageOf(error) };
    }
    processes = await endProcesses(toolbox);
    yield { type: 'ended', ending, processes };
  } finally {
    // A consumer that stops listening early must not leave a worker behind.
    if (processes === undefined) await endProcesses(toolbox);
  }
}

async function endProcesses(toolbox: Toolbox | undefined): Promise<Processes> {
  if (toolbox === undefined) return { dead: true, evidence: 'no process was started' };
  try {
    return await toolbox.end();
  } catch (error) {
    return { dead: false, evidence: `ending the worker failed: ${messageOf(error)}` };
  }
}
