import type Anthropic from '@anthropic-ai/sdk';
import type { TurnRecord } from '../../runner.ts';
import type { ModelRequest, ModelSettings } from './model.ts';

/**
 * A Messages request. Four cache breakpoints, which is all that the API takes: tools, system prompt, and the last two
 * user messages, so that the next turn reads what this one wrote.
 */
export function anthropicRequest(
  settings: ModelSettings,
  request: ModelRequest,
): Anthropic.MessageCreateParamsStreaming {
  const tools = request.tools.map(toolParam);
  const lastTool = tools.at(-1);
  if (lastTool !== undefined) lastTool.cache_control = EPHEMERAL;
  return {
    model: settings.id,
    max_tokens: settings.maxOutputTokens,
    ...(settings.temperature === undefined ? {} : { temperature: settings.temperature }),
    system: [{ type: 'text', text: request.system, cache_control: EPHEMERAL }],
    ...(tools.length === 0 ? {} : { tools }),
    messages: conversation(request),
    stream: true,
  };
}

const EPHEMERAL = { type: 'ephemeral' } as const;
type UserBlock = Anthropic.TextBlockParam | Anthropic.ToolResultBlockParam;

function toolParam(tool: ModelRequest['tools'][number]): Anthropic.Tool {
  return {
    name: tool.name,
    description: tool.description,
    input_schema: tool.inputSchema as unknown as Anthropic.Tool.InputSchema,
  };
}

function conversation({ user, history }: ModelRequest): Anthropic.MessageParam[] {
  const messages: Anthropic.MessageParam[] = [
    { role: 'user', content: marked([{ type: 'text', text: user }], history.length < 2) },
  ];
  history.forEach((turn, index) => {
    messages.push({ role: 'assistant', content: assistantContent(turn) });
    messages.push({ role: 'user', content: marked(answers(turn), index >= history.length - 2) });
  });
  return messages;
}

/** The API refuses an empty assistant message, though models now and then give one. */
function assistantContent(turn: TurnRecord): Anthropic.ContentBlockParam[] {
  const blocks = turn.assistant as Anthropic.ContentBlockParam[];
  return blocks.length === 0 ? [{ type: 'text', text: '(no answer)' }] : blocks;
}

function answers(turn: TurnRecord): UserBlock[] {
  const results = turn.results.map(
    (result): UserBlock => ({
      type: 'tool_result',
      tool_use_id: result.id,
      content: result.text === '' ? '(empty)' : result.text,
      ...(result.isError ? { is_error: true } : {}),
    }),
  );
  const notices = turn.notices.map((text): UserBlock => ({ type: 'text', text }));
  const blocks = [...results, ...notices];
  return blocks.length === 0 ? [{ type: 'text', text: 'Go on.' }] : blocks;
}

function marked(blocks: UserBlock[], isBreakpoint: boolean): UserBlock[] {
  const last = blocks.at(-1);
  if (!isBreakpoint || last === undefined) return blocks;
  return [...blocks.slice(0, -1), { ...last, cache_control: EPHEMERAL }];
}
