import type { Clock } from '../../domain/ids.ts';
import type { AgentEvent, Assignment, Ending, TurnRecord } from '../runner.ts';
import { carryOut } from './carry-out.ts';
import { conclude, failure, reminder, summaryOf } from './conclude.ts';
import { hashCalls, hasNewResult } from './fingerprint.ts';
import { fitContext } from './fit-context.ts';
import { exceededLimit } from './limits.ts';
import type { Model, ModelAnswer, ModelFailure } from './models/model.ts';
import type { Toolbox } from './toolbox.ts';

interface LoopInput {
  readonly assignment: Assignment;
  readonly model: Model;
  readonly toolbox: Toolbox;
  readonly clock: Clock;
  readonly log: LoopLog;
  readonly signal: AbortSignal;
}

export interface LoopLog {
  info(fields: Record<string, unknown>, message: string): void;
}

/**
 * Turns until the step ends: ask the model, execute its calls, let the host end the turn. Nothing is kept besides the
 * history, so a step that is started again with its recorded turns goes on where it was. What throws is the caller's.
 */
export async function* stepLoop(input: LoopInput): AsyncGenerator<AgentEvent, Ending> {
  const { assignment, signal, clock } = input;
  const startedAt = clock.now();
  const history = [...assignment.history];
  const last = history.at(-1);
  const isPending = last !== undefined && last.results.length < last.calls.length;
  if (isPending) history.pop();
  const resumedAt = history.length;
  const resumed =
    last === undefined ? undefined : isPending ? yield* endTurn(input, history, last) : endedBefore(input, last);
  if (resumed !== undefined) return resumed;
  while (!signal.aborted) {
    const exceeded = exceededLimit({
      limits: assignment.policy.limits,
      allowances: assignment.allowances,
      turns: history.length,
      activeMs: assignment.activeMs + clock.now() - startedAt,
      sinceResume: history.slice(resumedAt),
    });
    if (exceeded !== undefined) return { reason: 'stalled', message: exceeded };
    const answer = await ask(input, history);
    if (answer.kind !== 'answer') return endingOf(answer);
    const turn = newTurn(assignment, history, answer);
    input.log.info({ agent: assignment.agent, turn: turn.turn, usage: answer.usage }, 'model answered');
    yield { type: 'turn', turn: turn.turn, text: answer.text, tools: answer.calls.map((call) => call.name) };
    const ending = yield* endTurn(input, history, turn);
    if (ending !== undefined) return ending;
  }
  return { reason: 'interrupted' };
}

const CONTEXT_WINDOW_TOKENS = 200_000;

/** The daemon stopped between the end of the last turn and the end of the step: nothing is asked again. */
function endedBefore({ assignment, model }: LoopInput, last: TurnRecord): Ending | undefined {
  const { submits, role } = assignment;
  const conclusion = conclude(last, assignment.history.slice(0, -1), submits);
  if (conclusion === 'fail' && submits !== 'nothing') return { reason: 'failed', message: failure(role, submits) };
  if (conclusion !== 'finish') return undefined;
  return { reason: 'finish', summary: summaryOf(last, model.textOf(last.assistant)) };
}

function ask({ assignment, model, toolbox, signal }: LoopInput, history: readonly TurnRecord[]): Promise<ModelAnswer> {
  const { system, user } = assignment.prompt;
  const tools = toolbox.definitions;
  const fixedBytes = Buffer.byteLength(system + user + JSON.stringify(tools));
  const sent = fitContext({ history, fixedBytes, windowTokens: CONTEXT_WINDOW_TOKENS });
  return model.complete({ system, user, history: sent, tools, signal });
}

function endingOf(failed: ModelFailure): Ending {
  switch (failed.kind) {
    case 'budget':
      return { reason: 'budget', message: failed.message };
    case 'failed':
      return { reason: 'failed', message: failed.message };
    case 'interrupted':
      return { reason: 'interrupted' };
  }
}

function newTurn(
  assignment: Assignment,
  history: readonly TurnRecord[],
  answer: Extract<ModelAnswer, { kind: 'answer' }>,
): TurnRecord {
  const cap = assignment.policy.model.maxOutputTokens;
  const isCutText = answer.stop === 'length' && answer.calls.length === 0;
  return {
    turn: (history.at(-1)?.turn ?? 0) + 1,
    protocol: assignment.policy.model.protocol,
    assistant: answer.assistant,
    calls: answer.calls,
    results: [],
    notices: isCutText ? [`Your answer was cut at the output limit of ${cap} tokens. Go on in smaller parts.`] : [],
    callsHash: hashCalls(answer.calls),
    progress: false,
  };
}

/** Answers what is open in a turn, hands it to the host, and says how the step ends if it does. */
async function* endTurn(
  input: LoopInput,
  history: TurnRecord[],
  open: TurnRecord,
): AsyncGenerator<AgentEvent, Ending | undefined> {
  const { assignment, toolbox, signal } = input;
  const { host, submits } = assignment;
  const carried = yield* carryOut({ turn: open, toolbox, signal });
  if (carried.kind === 'interrupted') return { reason: 'interrupted' };
  if (carried.kind === 'parked') {
    await host.savePending(carried.turn);
    return { reason: 'parked', park: carried.park };
  }
  const conclusion = conclude(carried.turn, history, submits);
  const turn: TurnRecord = {
    ...carried.turn,
    progress: hasNewResult(history, carried.turn.results),
    notices: conclusion === 'remind' && submits !== 'nothing' ? [reminder(submits)] : carried.turn.notices,
  };
  const effects = await host.endTurn(turn);
  history.push({
    ...turn,
    notices: [...turn.notices, ...effects.notices],
    progress: turn.progress || effects.changed,
  });
  if (effects.park !== undefined) return { reason: 'parked', park: effects.park };
  if (conclusion === 'fail' && submits !== 'nothing') {
    return { reason: 'failed', message: failure(assignment.role, submits) };
  }
  if (conclusion !== 'finish' || effects.notices.length > 0) return undefined;
  return { reason: 'finish', summary: summaryOf(turn, input.model.textOf(turn.assistant)) };
}
