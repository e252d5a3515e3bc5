import type OpenAI from 'openai';
import type { ToolResult, TurnRecord } from '../../runner.ts';
import type { ModelRequest, ModelSettings } from './model.ts';

type ChatMessage = OpenAI.ChatCompletionMessageParam;

/** A Chat Completions request; caching is by prefix there, so the stable part just comes first. */
export function chatRequest(
  settings: ModelSettings,
  request: ModelRequest,
): OpenAI.ChatCompletionCreateParamsStreaming {
  const tools = request.tools.map(
    (tool): OpenAI.ChatCompletionFunctionTool => ({
      type: 'function',
      function: { name: tool.name, description: tool.description, parameters: { ...tool.inputSchema } },
    }),
  );
  return {
    model: settings.id,
    max_completion_tokens: settings.maxOutputTokens,
    ...(settings.temperature === undefined ? {} : { temperature: settings.temperature }),
    messages: [
      { role: 'system', content: request.system },
      { role: 'user', content: request.user },
      ...request.history.flatMap(turnMessages),
    ],
    ...(tools.length === 0 ? {} : { tools }),
    stream: true,
    stream_options: { include_usage: true },
  };
}

function turnMessages(turn: TurnRecord): ChatMessage[] {
  const results = turn.results.map(
    (result): ChatMessage => ({ role: 'tool', tool_call_id: result.id, content: resultText(result) }),
  );
  const notices = turn.notices.join('\n\n');
  const isAnswered = results.length > 0 || notices !== '';
  return [
    turn.assistant as ChatMessage,
    ...results,
    ...(notices === '' ? [] : [{ role: 'user', content: notices } as const]),
    ...(isAnswered ? [] : [{ role: 'user', content: 'Go on.' } as const]),
  ];
}

/** This protocol has no error flag: the text says it. */
function resultText(result: ToolResult): string {
  const text = result.text === '' ? '(empty)' : result.text;
  return result.isError && !text.startsWith('Error: ') ? `Error: ${text}` : text;
}
