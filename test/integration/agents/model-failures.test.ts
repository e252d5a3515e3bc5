import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import { builtinRunner } from '../../../src/agents/builtin/run-builtin.ts';
import type { Ending } from '../../../src/agents/runner.ts';
import type { Reply } from '../../../src/cli/demo/script.ts';
import { type ScriptedModel, startScriptedModel } from '../../../src/cli/demo/scripted-model.ts';
import { assignment, memoryHost, memoryToolbox, runStep, said } from '../../fakes/memory-step.ts';

const started: ScriptedModel[] = [];
afterEach(async () => {
  for (const model of started.splice(0)) await model.stop();
});

const runner = builtinRunner({
  openToolbox: async () => memoryToolbox({ read_file: () => said('x') }),
  clock: { now: () => 0 },
  log: { info: () => {} },
});

/** One reply to whatever is asked; says how the step ended and how many requests the endpoint saw. */
async function endingFor(
  protocol: 'anthropic' | 'openai-chat',
  reply: Reply,
): Promise<{ ending: Ending; requests: number }> {
  const model = await startScriptedModel({ script: () => reply });
  started.push(model);
  const host = memoryHost();
  const { ending } = await runStep(runner, assignment({ url: model.url, protocol, host }));
  if (reply.status !== undefined || reply.cutAfterEvents !== undefined) expect(host.turns).toEqual([]);
  return { ending, requests: model.requests.length };
}

const DUAL_BODY = {
  type: 'error',
  error: {
    type: 'billing_error',
    code: 'insufficient_quota',
    message: 'Budget reached for role coder: used 98 of 100',
    param: null,
  },
};

describe.each(['anthropic', 'openai-chat'] as const)('over %s', (protocol) => {
  test('an answer ends well (control)', async () => {
    expect(await endingFor(protocol, { text: 'ok' })).toEqual({
      ending: { reason: 'finish', summary: 'ok' },
      requests: 1,
    });
  });

  test.each([
    ['402 of the gateway', { status: 402, body: DUAL_BODY, headers: { 'x-should-retry': 'false' } }],
    ['429 that means money', { status: 429, body: DUAL_BODY }],
  ])('%s is the budget, asked once', async (_name, reply) => {
    expect(await endingFor(protocol, reply)).toEqual({
      ending: { reason: 'budget', message: 'Budget reached for role coder: used 98 of 100' },
      requests: 1,
    });
  });

  test.each([
    [400, 'refused the request of role coder to model-coder (400): nope'],
    [401, 'does not accept the key of role coder (401): nope'],
    [403, 'may not use the model model-coder (403): nope'],
    [404, 'no model model-coder, or the base URL is wrong (404): nope'],
    [429, 'rate limiting role coder (429), also after the retries: nope'],
    [503, 'failed (503), also after the retries: nope'],
  ])('%i fails the step in one sentence, asked once', async (status, sentence) => {
    const { ending, requests } = await endingFor(protocol, { status, text: 'nope' });
    expect(ending).toEqual({ reason: 'failed', message: expect.stringContaining(sentence) });
    expect(requests).toBe(1);
  });

  test('a temperature that the model does not take is left out from then on', async () => {
    const temperatures: (number | undefined)[] = [];
    const model = await startScriptedModel({
      script: ({ temperature, turn }) => {
        temperatures.push(temperature);
        if (temperature !== undefined) return { status: 400, text: '`temperature` is not supported by this model' };
        return turn === 0 ? { toolCalls: [{ name: 'read_file', input: {} }] } : { text: 'ok' };
      },
    });
    started.push(model);
    const { ending } = await runStep(runner, assignment({ url: model.url, protocol }));
    expect(ending).toEqual({ reason: 'finish', summary: 'ok' });
    expect(temperatures).toEqual([0.2, undefined, undefined]);
  });

  test('a long hostile error text is one short line', async () => {
    const { ending } = await endingFor(protocol, { status: 500, text: `a\n\nb ${'x'.repeat(5_000)}` });
    expect(ending).toEqual({ reason: 'failed', message: expect.stringMatching(/^[^\n]{1,600}$/) });
  });

  test.each([0, 1, 3])(
    'a stream cut after %i events is explained and its turn is not carried out',
    async (cutAfterEvents) => {
      const reply: Reply = { text: 'half', toolCalls: [{ name: 'read_file', input: { path: 'a' } }], cutAfterEvents };
      const { ending } = await endingFor(protocol, reply);
      expect(ending).toEqual({ reason: 'failed', message: expect.stringMatching(/gave no complete answer|broke off/) });
    },
  );

  test('a page of HTML is explained', async () => {
    const { ending } = await endingFor(protocol, { body: '<html>hello</html>' });
    expect(ending).toEqual({ reason: 'failed', message: expect.stringMatching(/gave no complete answer|broke off/) });
  });

  test('an endpoint that is not there is explained with the socket error', async () => {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    await new Promise((resolve) => server.close(resolve));
    const { ending } = await runStep(runner, assignment({ url: `http://127.0.0.1:${port}`, protocol }));
    expect(ending).toEqual({ reason: 'failed', message: expect.stringContaining('ECONNREFUSED') });
  });
});

test('an error event inside a Messages stream is explained; a billing error there is the budget', async () => {
  const answers = [
    { type: 'overloaded_error', message: 'busy' },
    { type: 'billing_error', message: 'no money' },
  ];
  const endings: Ending[] = [];
  for (const error of answers) {
    const server = createServer((_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.end(`event: error\ndata: ${JSON.stringify({ type: 'error', error })}\n\n`);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    endings.push((await runStep(runner, assignment({ url: `http://127.0.0.1:${port}` }))).ending);
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
  expect(endings).toEqual([
    { reason: 'failed', message: expect.stringContaining('model-coder gave no complete answer to role coder: busy;') },
    { reason: 'budget', message: 'no money' },
  ]);
});

test.each([
  ['anthropic', 'event: message_delta\ndata: {"type":"message_delta"}\n\n'],
  ['openai-chat', 'data: null\n\n'],
] as const)('over %s an event without its parts is explained, not a TypeError', async (protocol, event) => {
  const server = createServer((_request, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.end(event);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const { ending } = await runStep(runner, assignment({ url: `http://127.0.0.1:${port}`, protocol }));
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
  expect(ending).toEqual({
    reason: 'failed',
    message: expect.stringContaining('an event that is not of its protocol'),
  });
});

test.each(['anthropic', 'openai-chat'] as const)('over %s an answer may leave its usage out', async (protocol) => {
  const { ending } = await endingFor(protocol, { text: 'ok', hidesUsage: true });
  expect(ending).toEqual({ reason: 'finish', summary: 'ok' });
});
