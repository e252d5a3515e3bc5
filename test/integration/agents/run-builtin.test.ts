import { afterEach, describe, expect, test } from 'vitest';
import { builtinRunner } from '../../../src/agents/builtin/run-builtin.ts';
import type { Toolbox } from '../../../src/agents/builtin/toolbox.ts';
import type { Assignment, Park, Runner, TurnRecord } from '../../../src/agents/runner.ts';
import { type Reply, type Script, type ScriptRequest, tableScript } from '../../../src/cli/demo/script.ts';
import { type ScriptedModel, startScriptedModel } from '../../../src/cli/demo/scripted-model.ts';
import type { RoleName } from '../../../src/domain/ids.ts';
import type { RepoPath } from '../../../src/domain/path.ts';
import { assignment, memoryHost, memoryToolbox, rolePolicy, runStep, said } from '../../fakes/memory-step.ts';

const started: ScriptedModel[] = [];
afterEach(async () => {
  for (const model of started.splice(0)) await model.stop();
});

/** A scripted model that also keeps what it was asked. */
async function serve(script: Script): Promise<{ model: ScriptedModel; asked: ScriptRequest[] }> {
  const asked: ScriptRequest[] = [];
  const model = await startScriptedModel({
    script: (request) => {
      asked.push(request);
      return script(request);
    },
  });
  started.push(model);
  return { model, asked };
}

function replies(...list: readonly Reply[]): Script {
  return tableScript({ coder: list });
}

function runnerWith(toolbox: Toolbox, now: () => number = () => 0): Runner {
  return builtinRunner({ openToolbox: async () => toolbox, clock: { now }, log: { info: () => {} } });
}

const read = (path: string): Reply => ({ toolCalls: [{ name: 'read_file', input: { path } }] });
const finish = (summary: string): Reply => ({ toolCalls: [{ name: 'finish', input: { summary } }] });

describe.each(['anthropic', 'openai-chat'] as const)('over %s', (protocol) => {
  test('a step reads, is told the results, and finishes with its summary', async () => {
    const { model, asked } = await serve(replies({ text: 'I look.', ...read('a.py') }, finish('changed a.py')));
    const toolbox = memoryToolbox({ read_file: (input) => said(`content of ${input['path']}`) });
    const host = memoryHost();
    const ran = await runStep(runnerWith(toolbox), assignment({ url: model.url, protocol, host }));
    expect(ran.ending).toEqual({ reason: 'finish', summary: 'changed a.py' });
    expect(ran.events.map((event) => event.type)).toEqual(['turn', 'tool', 'turn', 'tool', 'ended']);
    expect(ran.events[0]).toEqual({ type: 'turn', turn: 1, text: 'I look.', tools: ['read_file'] });
    expect(ran.events[1]).toEqual({ type: 'tool', turn: 1, tool: 'read_file', summary: 'a.py', isError: false });
    expect(asked[1]?.messages.at(-1)?.toolResults).toMatchObject([{ text: 'content of a.py', isError: false }]);
    expect(asked.every((request) => request.stream && request.key === 'key-coder' && request.maxTokens === 4096)).toBe(
      true,
    );
    expect(asked[0]?.tools).toEqual(['finish', 'read_file']);
    expect(host.turns.map((turn) => [turn.turn, turn.progress])).toEqual([
      [1, true],
      [2, true],
    ]);
    expect(toolbox.ended()).toBe(true);
  });

  test('several calls are answered in order, an error result is marked, and calls after finish are not executed', async () => {
    const calls = ['a', 'b'].map((path) => ({ name: 'read_file', input: { path } }));
    const last = [{ name: 'finish', input: { summary: 'done' } }, ...calls];
    const { model, asked } = await serve(replies({ toolCalls: calls }, { toolCalls: last }));
    const toolbox = memoryToolbox({ read_file: (input) => said(`no ${input['path']}`, input['path'] === 'b') });
    const host = memoryHost();
    const ran = await runStep(runnerWith(toolbox), assignment({ url: model.url, protocol, host }));
    expect(ran.ending).toEqual({ reason: 'finish', summary: 'done' });
    const results = asked[1]?.messages.at(-1)?.toolResults ?? [];
    expect(results.map((result) => [result.text.replace(/^Error: /, ''), result.isError])).toEqual([
      ['no a', false],
      ['no b', true],
    ]);
    expect(toolbox.executed.map((call) => call.name)).toEqual(['read_file', 'read_file', 'finish']);
    expect(host.turns[1]?.results.map((result) => result.isError)).toEqual([false, true, true]);
  });

  test('an answer without tool calls ends the step with its text', async () => {
    const { model } = await serve(replies({ text: ' All is well. ' }));
    const ran = await runStep(runnerWith(memoryToolbox()), assignment({ url: model.url, protocol }));
    expect(ran.ending).toEqual({ reason: 'finish', summary: 'All is well.' });
  });

  test('notices of the host follow the results, and a turn that finished with one goes on', async () => {
    const { model, asked } = await serve(replies(finish('first'), finish('second')));
    const notice = 'Your change to Doc/x.rst was undone.';
    const host = memoryHost({ effects: (turn) => ({ changed: false, notices: turn.turn === 1 ? [notice] : [] }) });
    const ran = await runStep(runnerWith(memoryToolbox()), assignment({ url: model.url, protocol, host }));
    expect(ran.ending).toEqual({ reason: 'finish', summary: 'second' });
    expect(asked[1]?.messages.at(-1)).toMatchObject({ role: 'user', text: notice, toolResults: [{ text: 'Noted.' }] });
  });

  test('a parked call is saved with the answers so far and executed when the step goes on', async () => {
    const calls = [
      { name: 'read_file', input: { path: 'a' } },
      { name: 'write_file', input: { path: 'Doc/x.py', content: 'x' } },
      { name: 'read_file', input: { path: 'b' } },
    ];
    const { model, asked } = await serve(replies({ toolCalls: calls }, finish('written')));
    const park: Park = { kind: 'boundary', paths: ['Doc/x.py' as RepoPath], reason: 'ask' };
    const first = memoryHost();
    const read_file = (input: Readonly<Record<string, unknown>>) => said(`read ${input['path']}`);
    const parking = memoryToolbox({
      read_file,
      write_file: (_input, call) => ({ kind: 'park', park: { ...park, toolCallId: call.id } }),
    });
    const parked = await runStep(runnerWith(parking), assignment({ url: model.url, protocol, host: first }));
    const pending = first.pending[0];
    expect(parked.ending).toEqual({ reason: 'parked', park: { ...park, toolCallId: pending?.calls[1]?.id } });
    expect(pending?.results.map((result) => result.text)).toEqual(['read a']);
    expect(first.turns).toEqual([]);
    expect(parking.ended()).toBe(true);

    const second = memoryHost({ answers: { [pending?.calls[1]?.id ?? '']: { verdict: 'approve' } } });
    const going = memoryToolbox({
      read_file,
      write_file: (_input, call) => said(second.answerFor(call.id)?.verdict ?? 'nobody answered'),
    });
    const history = JSON.parse(JSON.stringify(first.pending)) as TurnRecord[];
    const ran = await runStep(runnerWith(going), assignment({ url: model.url, protocol, host: second, history }));
    expect(ran.ending).toEqual({ reason: 'finish', summary: 'written' });
    expect(going.executed.map((call) => call.name)).toEqual(['write_file', 'read_file', 'finish']);
    expect(asked).toHaveLength(2);
    expect(asked[1]?.messages.at(-1)?.toolResults.map((result) => result.text)).toEqual([
      'read a',
      'approve',
      'read b',
    ]);
    expect(second.turns.map((turn) => turn.turn)).toEqual([1, 2]);
  });

  test('a step resumed after a crash asks exactly what it would have asked', async () => {
    const script = replies({ text: 'one', ...read('a') }, read('b'), finish('end'));
    const { model, asked } = await serve(script);
    const toolbox = memoryToolbox({ read_file: (input) => said(`read ${input['path']}`) });
    const host = memoryHost();
    await runStep(runnerWith(toolbox), assignment({ url: model.url, protocol, host }));
    const history = JSON.parse(JSON.stringify(host.turns.slice(0, 1))) as TurnRecord[];
    const again = memoryHost();
    const ran = await runStep(runnerWith(toolbox), assignment({ url: model.url, protocol, host: again, history }));
    expect(ran.ending).toEqual({ reason: 'finish', summary: 'end' });
    expect(asked.slice(3)).toEqual(asked.slice(1, 3));
    expect(again.turns).toEqual(host.turns.slice(1));
  });

  test('a step whose last turn had already finished asks nothing more', async () => {
    const { model, asked } = await serve(replies(finish('the end')));
    const host = memoryHost();
    await runStep(runnerWith(memoryToolbox()), assignment({ url: model.url, protocol, host }));
    const ran = await runStep(
      runnerWith(memoryToolbox()),
      assignment({ url: model.url, protocol, history: host.turns }),
    );
    expect(ran.ending).toEqual({ reason: 'finish', summary: 'the end' });
    expect(asked).toHaveLength(1);
  });

  test('the host can park a step at the end of a turn', async () => {
    const park: Park = { kind: 'violation', reason: 'the fifth' };
    const { model } = await serve(replies(finish('done')));
    const host = memoryHost({ effects: () => ({ changed: false, notices: ['undone'], park }) });
    const ran = await runStep(runnerWith(memoryToolbox()), assignment({ url: model.url, protocol, host }));
    expect(ran.ending).toEqual({ reason: 'parked', park });
  });

  test('malformed arguments are answered with an error, not executed, and the conversation stays valid', async () => {
    const broken = { name: 'read_file', input: {}, rawInput: '{"path": "a' };
    const { model, asked } = await serve(
      replies({ toolCalls: [broken, { name: 'read_file', input: { path: 'b' } }] }, finish('ok')),
    );
    const toolbox = memoryToolbox({ read_file: (input) => said(`read ${input['path']}`) });
    const ran = await runStep(runnerWith(toolbox), assignment({ url: model.url, protocol }));
    expect(ran.ending).toEqual({ reason: 'finish', summary: 'ok' });
    expect(toolbox.executed).toEqual([
      { name: 'read_file', input: { path: 'b' } },
      { name: 'finish', input: { summary: 'ok' } },
    ]);
    const results = asked[1]?.messages.at(-1)?.toolResults ?? [];
    expect(results[0]?.isError).toBe(true);
    expect(results[0]?.text).toContain('no valid JSON');
    expect(asked[1]?.messages.at(-2)?.toolCalls.map((call) => call.input)).toEqual([{}, { path: 'b' }]);
  });

  test('a call cut by the output limit is told and not executed; an uncut one before it is', async () => {
    const cut: Reply = {
      toolCalls: [
        { name: 'read_file', input: { path: 'a' } },
        { name: 'write_file', input: {}, rawInput: '{"path":"b","content":"half' },
      ],
      stop: 'max_tokens',
    };
    const { model, asked } = await serve(replies(cut, finish('ok')));
    const toolbox = memoryToolbox({ read_file: () => said('read'), write_file: () => said('written') });
    await runStep(runnerWith(toolbox), assignment({ url: model.url, protocol }));
    expect(toolbox.executed.map((call) => call.name)).toEqual(['read_file', 'finish']);
    expect(asked[1]?.messages.at(-1)?.toolResults[1]?.text).toContain('cut at the output limit of 4096 tokens');
  });

  test('a text cut by the output limit does not end the step', async () => {
    const { model, asked } = await serve(replies({ text: 'half a thou', stop: 'max_tokens' }, finish('ok')));
    const ran = await runStep(runnerWith(memoryToolbox()), assignment({ url: model.url, protocol }));
    expect(ran.ending).toEqual({ reason: 'finish', summary: 'ok' });
    expect(asked[1]?.messages.at(-1)?.text).toContain('Go on in smaller parts');
  });
});

test('thinking blocks go back byte-equal, signature included', async () => {
  const thinking = { text: 'Zero‑width \u200b and "quotes" stay. '.repeat(4), signature: 'c2lnbmVk+/==' };
  const { model } = await serve(replies({ thinking, text: 'I look.', ...read('a') }, finish('ok')));
  const host = memoryHost();
  await runStep(runnerWith(memoryToolbox({ read_file: () => said('x') })), assignment({ url: model.url, host }));
  expect(host.turns[0]?.assistant).toMatchObject([
    { type: 'thinking', thinking: thinking.text, signature: thinking.signature },
    { type: 'text', text: 'I look.' },
    { type: 'tool_use', name: 'read_file', input: { path: 'a' } },
  ]);
});

describe('submissions', () => {
  const planner = (url: string, host = memoryHost()): Assignment =>
    assignment({
      url,
      host,
      submits: 'plan',
      role: 'planner' as RoleName,
      prompt: { system: 'Role: planner', user: 'plan' },
    });
  const submit: Reply = { toolCalls: [{ name: 'submit_plan', input: { tasks: [] } }] };

  test('an accepted plan does not end the step; finish does', async () => {
    const { model } = await serve(tableScript({ planner: [submit, finish('planned')] }));
    const ran = await runStep(runnerWith(memoryToolbox({ submit_plan: () => said('accepted') })), planner(model.url));
    expect(ran.ending).toEqual({ reason: 'finish', summary: 'planned' });
  });

  test('a planner without a plan is reminded once and may still submit', async () => {
    const { model, asked } = await serve(
      tableScript({ planner: [{ text: 'I think so.' }, submit, finish('planned')] }),
    );
    const host = memoryHost();
    const ran = await runStep(
      runnerWith(memoryToolbox({ submit_plan: () => said('accepted') })),
      planner(model.url, host),
    );
    expect(ran.ending).toEqual({ reason: 'finish', summary: 'planned' });
    expect(asked[1]?.messages.at(-1)).toMatchObject({
      role: 'user',
      text: expect.stringContaining('Call submit_plan now'),
    });
    expect(host.turns[0]?.notices).toHaveLength(1);
  });

  test('a plan that was refused is no plan: after the reminder the step fails', async () => {
    const { model, asked } = await serve(tableScript({ planner: [submit, finish('a'), finish('b')] }));
    const toolbox = memoryToolbox({ submit_plan: () => said('two tasks depend on each other', true) });
    const ran = await runStep(runnerWith(toolbox), planner(model.url));
    expect(ran.ending).toEqual({
      reason: 'failed',
      message: 'Role planner ended without a plan, also after a reminder (submit_plan was never accepted).',
    });
    expect(asked).toHaveLength(3);
  });
});

describe('limits', () => {
  const forever: Script = (request) => ({ toolCalls: [{ name: 'read_file', input: { path: `p${request.turn}` } }] });
  const limited = (
    url: string,
    limits: Parameters<typeof rolePolicy>[0],
    parts: Partial<Assignment> = {},
  ): Assignment => assignment({ url, policy: rolePolicy(limits ?? {}), ...parts });

  test('turns: the step stalls with the numbers, and an allowance gives the same again', async () => {
    const { model, asked } = await serve(forever);
    const toolbox = memoryToolbox({ read_file: (input) => said(`read ${input['path']}`) });
    const host = memoryHost();
    const ran = await runStep(runnerWith(toolbox), limited(model.url, { limits: { turns: 4 } }, { host }));
    expect(ran.ending).toEqual({ reason: 'stalled', message: 'limit turns: 4 of 4 turns are used' });
    expect(asked).toHaveLength(4);
    const again = limited(model.url, { limits: { turns: 4 } }, { history: host.turns, allowances: 1 });
    const ranOn = await runStep(runnerWith(toolbox), again);
    expect(ranOn.ending).toEqual({ reason: 'stalled', message: 'limit turns: 8 of 8 turns are used' });
    expect(asked).toHaveLength(8);
  });

  test('wall clock counts what was used before this run', async () => {
    const { model, asked } = await serve(forever);
    let now = 0;
    const slow = memoryToolbox({
      read_file: (input) => {
        now += 60_000;
        return said(`read ${input['path']}`);
      },
    });
    const step = limited(model.url, { limits: { wallClockMs: 300_000 } }, { activeMs: 180_000 });
    const ran = await runStep(
      runnerWith(slow, () => now),
      step,
    );
    expect(ran.ending).toEqual({ reason: 'stalled', message: 'limit wall_clock: 5.0 of 5.0 minutes are used' });
    expect(asked).toHaveLength(2);
  });

  test('no progress: turns that change nothing and return nothing new', async () => {
    const { model, asked } = await serve(forever);
    const ran = await runStep(runnerWith(memoryToolbox({ read_file: () => said('same') })), limited(model.url, {}));
    expect(ran.ending).toMatchObject({
      reason: 'stalled',
      message: expect.stringContaining('no_progress_rounds: 3 turns'),
    });
    expect(asked).toHaveLength(4);
  });

  test('no progress is not said of turns that change a file', async () => {
    const { model } = await serve((request) => (request.turn < 8 ? forever(request) : { text: 'done' }));
    const host = memoryHost({ effects: () => ({ changed: true, notices: [] }) });
    const ran = await runStep(
      runnerWith(memoryToolbox({ read_file: () => said('same') })),
      limited(model.url, {}, { host }),
    );
    expect(ran.ending).toEqual({ reason: 'finish', summary: 'done' });
  });

  test('identical calls stall though every result is new', async () => {
    const { model, asked } = await serve(() => read('status'));
    let count = 0;
    const toolbox = memoryToolbox({
      read_file: () => {
        count += 1;
        return said(`pass ${count}`);
      },
    });
    const ran = await runStep(runnerWith(toolbox), limited(model.url, {}));
    expect(ran.ending).toMatchObject({ reason: 'stalled', message: expect.stringContaining('identical_calls') });
    expect(asked).toHaveLength(5);
  });

  test('after an allowance the loop detectors begin anew', async () => {
    const { model, asked } = await serve(forever);
    const toolbox = memoryToolbox({ read_file: () => said('same') });
    const host = memoryHost();
    await runStep(runnerWith(toolbox), limited(model.url, {}, { host }));
    const before = asked.length;
    const ran = await runStep(runnerWith(toolbox), limited(model.url, {}, { history: host.turns, allowances: 1 }));
    expect(ran.ending).toMatchObject({ reason: 'stalled' });
    expect(asked.length - before).toBe(3);
  });
});

test('an abort ends the call in flight, the toolbox, and the step as interrupted', async () => {
  const { model, asked } = await serve(() => ({ text: 'too late', delayMs: 5_000 }));
  const controller = new AbortController();
  const toolbox = memoryToolbox();
  const running = runStep(runnerWith(toolbox), assignment({ url: model.url }), controller.signal);
  await expect.poll(() => asked.length).toBe(1);
  controller.abort();
  expect((await running).ending).toEqual({ reason: 'interrupted' });
  expect(toolbox.ended()).toBe(true);
});

test.each(['anthropic', 'openai-chat'] as const)(
  'an abort in the middle of a stream over %s is an interruption',
  async (protocol) => {
    const controller = new AbortController();
    const model = await startScriptedModel({ chunkDelayMs: 50, script: () => ({ text: 'word '.repeat(400) }) });
    started.push(model);
    const host = memoryHost();
    const running = runStep(
      runnerWith(memoryToolbox()),
      assignment({ url: model.url, protocol, host }),
      controller.signal,
    );
    await expect.poll(() => model.requests.length).toBe(1);
    await new Promise((resolve) => setTimeout(resolve, 150));
    controller.abort();
    expect((await running).ending).toEqual({ reason: 'interrupted' });
    expect(host.turns).toEqual([]);
  },
);

test('an abort while a tool runs records no turn', async () => {
  const { model } = await serve(replies(read('a')));
  const controller = new AbortController();
  const toolbox = memoryToolbox({
    read_file: () => {
      controller.abort();
      return said('stopped', true);
    },
  });
  const host = memoryHost();
  const ran = await runStep(runnerWith(toolbox), assignment({ url: model.url, host }), controller.signal);
  expect(ran.ending).toEqual({ reason: 'interrupted' });
  expect(host.turns).toEqual([]);
});

test('what the toolbox or the host throws fails the step with that reason and still ends the worker', async () => {
  const { model } = await serve(replies(read('a')));
  const toolbox = memoryToolbox({
    read_file: () => {
      throw new Error('the tool worker is gone');
    },
  });
  const ran = await runStep(runnerWith(toolbox), assignment({ url: model.url }));
  expect(ran.ending).toEqual({ reason: 'failed', message: 'the tool worker is gone' });
  expect(toolbox.ended()).toBe(true);
});

test('a consumer that stops listening leaves no worker behind', async () => {
  const { model } = await serve(replies(read('a'), finish('ok')));
  const toolbox = memoryToolbox({ read_file: () => said('x') });
  const events = runnerWith(toolbox).run(assignment({ url: model.url }), { signal: new AbortController().signal });
  for await (const event of events) {
    expect(event.type).toBe('turn');
    break;
  }
  expect(toolbox.ended()).toBe(true);
});

test.each([
  [rolePolicy({ protocol: 'openai-responses' }), 'not openai-responses'],
  [rolePolicy({ model: { id: undefined } }), 'no model id'],
])(
  'a policy that the built-in agent cannot work with fails the step before anything starts',
  async (policy, reason) => {
    const { model, asked } = await serve(replies(finish('ok')));
    const ran = await runStep(runnerWith(memoryToolbox()), assignment({ url: model.url, policy }));
    expect(ran.ending).toMatchObject({ reason: 'failed', message: expect.stringContaining(reason) });
    expect(asked).toEqual([]);
  },
);

test('old results are dropped when the context fills; the last five turns and the request stay', async () => {
  const big = 'x'.repeat(60_000);
  const { model, asked } = await serve((request) => (request.turn < 12 ? read(`p${request.turn}`) : { text: 'done' }));
  const toolbox = memoryToolbox({ read_file: (input) => said(`${input['path']} ${big}`) });
  const host = memoryHost();
  const policy = rolePolicy({ limits: { turns: 20 } });
  const ran = await runStep(runnerWith(toolbox), assignment({ url: model.url, host, policy }));
  expect(ran.ending).toEqual({ reason: 'finish', summary: 'done' });
  const results = asked.at(-1)?.messages.flatMap((message) => message.toolResults) ?? [];
  expect(results).toHaveLength(12);
  expect(results[0]?.text).toMatch(/^\[60003 characters of an old read_file result were dropped/);
  expect(results.slice(-5).every((result) => result.text.length > 60_000)).toBe(true);
  expect(asked.at(-1)?.messages[0]?.text).toBe('Task: T1\n\nDo it.');
  expect(host.turns[0]?.results[0]?.text).toHaveLength(60_003);
});
