import { afterEach, describe, expect, it } from 'vitest';
import type { Reply, ScriptProtocol } from '../../src/cli/demo/script.ts';
import { finish, quietRoles, write } from './support/project.ts';
import { configure, scenes } from './support/scenes.ts';
import { HONEST, requestsOf, startedWith } from './support/spending.ts';
import { follow, must, play, type Stage } from './support/stage.ts';

let stage: Stage | undefined;
afterEach(async () => {
  await stage?.close();
  stage = undefined;
});

async function started(...given: Parameters<typeof startedWith>): Promise<Stage> {
  stage = await startedWith(...given);
  return stage;
}

interface Failing {
  readonly answer: Reply;
  readonly reason: RegExp;
  readonly requests: number;
  /** What the ledger holds for the failed attempts. */
  readonly spent: Readonly<Record<string, unknown>>;
}

const NOTHING = { input: 0, output: 0, estimated: 0 };
const CHAT_SHAPED = {
  object: 'chat.completion',
  choices: [{ index: 0, message: { role: 'assistant', content: 'hello' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 70, completion_tokens: 7 },
};
const MESSAGES_SHAPED = {
  type: 'message',
  content: [{ type: 'text', text: 'hello' }],
  stop_reason: 'end_turn',
  usage: { input_tokens: 70, output_tokens: 7 },
};

function failures(protocol: ScriptProtocol): Readonly<Record<string, Failing>> {
  const foreign = protocol === 'anthropic' ? CHAT_SHAPED : MESSAGES_SHAPED;
  return {
    unauthorised: {
      answer: { status: 401, text: 'no such key' },
      reason: /does not accept the key of role coder \(401\): no such key; `orchestrator doctor/,
      requests: 1,
      spent: { requests: 1, ...NOTHING },
    },
    nowhere: {
      answer: { status: 404, text: 'not here' },
      reason: /has no model scripted-coder, or the base URL is wrong \(404\): not here/,
      requests: 1,
      spent: { requests: 1, ...NOTHING },
    },
    webpage: {
      answer: { body: '<html><title>Welcome</title></html>' },
      reason: /answered 200 with text\/html where an event stream .* Is the base URL right/,
      requests: 1,
      spent: { requests: 1, ...NOTHING },
    },
    foreign: {
      answer: { body: foreign },
      reason: /answered 200 with application\/json where an event stream of the .* protocol was asked for/,
      requests: 1,
      spent: { requests: 1, input: 70, output: 7, estimated: 0 },
    },
    broken: {
      answer: { status: 500, text: 'sorry' },
      reason: /The model endpoint failed \(500\), also after the retries: .*\(tried 3 times\): sorry/,
      requests: 3,
      spent: { requests: 3, ...NOTHING },
    },
    torn: {
      answer: { text: 'x'.repeat(400), usage: { input: 900, output: 400 }, cutAfterEvents: 5 },
      reason: /gave no complete answer to role coder: The stream of .* broke off before its end.*orchestrator retry/,
      requests: 1,
      spent: protocol === 'anthropic' ? { requests: 1, input: 900 } : { requests: 1 },
    },
    silent: {
      answer: { delayMs: 4000 },
      reason: /gave no answer within 2 s \(gateway\.request_timeout\)/,
      requests: 1,
      spent: { requests: 0, output: 8192 },
    },
  };
}

interface TaskRow extends Readonly<Record<string, unknown>> {
  readonly task: string;
  readonly estimated: number;
}

describe.each(['anthropic', 'openai-chat'] as const)('an endpoint that fails, over %s', (protocol) => {
  it('ends the step in one sentence, and a retry goes on', async () => {
    const cases = failures(protocol);
    const good = [write('src/pkg/core.py', HONEST), { ...finish(), usage: { input: 50, output: 5 } }];
    const tables = Object.entries(cases).map(([name, { answer }]) => [
      name,
      { ...quietRoles(), 'coder#1': [answer], 'coder#2': good },
    ]);
    const { script } = scenes(Object.fromEntries(tables));
    const opened = await started({ protocol, script }, (opened) =>
      configure(opened, 'global.yaml', [['request_timeout: 180s', 'request_timeout: 2s']]),
    );
    for (const [name, { reason, requests, spent }] of Object.entries(cases)) {
      const before = requestsOf(opened, 'coder');
      const { shown } = await play(opened, name);
      const task = (shown.tasks as readonly { state: string; reason?: string | null }[])[0];
      expect({ name, run: shown.state, task: task?.state }).toEqual({ name, run: 'failed', task: 'failed' });
      expect(task?.reason).toMatch(reason);
      expect(task?.reason).not.toMatch(/TypeError|undefined|\n/);
      const { rows } = await opened.json<{ rows: TaskRow[] }>(['report', '--by', 'task']);
      const row = rows.find((each) => each.task === `${shown.run}/T1`);
      expect({ name, ...row }).toMatchObject({ name, ...spent });
      if (name === 'silent') expect(row?.estimated).toBeGreaterThan(8192);

      await must(opened.cli(['retry', `${shown.run}/T1`]));
      const again = await follow(opened, shown.run);
      expect({ name, state: again.shown.state, reason: again.shown.reason }).toMatchObject({ name, state: 'merged' });
      expect(again.shown.tasks[0]?.steps.map(({ attempt, state }) => [attempt, state])).toEqual([
        [1, 'failed'],
        [2, 'done'],
      ]);
      // Two for the attempt that went well; a late answer enters the books only when it is given.
      const all = { name, requests: requests + good.length };
      const counted = () => ({ name, requests: requestsOf(opened, 'coder') - before });
      await expect.poll(counted, { timeout: 10_000, interval: 100 }).toEqual(all);
    }
  });
});
