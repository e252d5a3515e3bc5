import type { Usage } from '../../domain/usage.ts';
import { asArray, asCount, asObject, asText, type JsonObject, parseObject } from '../json.ts';
import type { Dialect, StreamReader } from './dialect.ts';

/** Chat Completions. Its prompt tokens include the cached ones; a stream states usage only when asked to. */
export const chat: Dialect = {
  protocol: 'openai-chat',
  capFields: ['max_completion_tokens', 'max_tokens'],
  refusalStatus: 402,
  keyHeaders: (key) => ({ authorization: `Bearer ${key}` }),
  firstMessage: (body) => asArray(body['messages']).find((message) => asObject(message)?.['role'] === 'user'),
  thinkingBudget: () => 0,
  isAnswer: (body) => Array.isArray(body['choices']),
  usageOf: (body) => normalForm(statedUsage(body)),
  isCutByCap: (body) => asArray(body['choices']).some((choice) => asObject(choice)?.['finish_reason'] === 'length'),
  streamReader,
  streamError: (message) =>
    `data: ${JSON.stringify({ error: { message, type: 'api_error', code: 'upstream_error', param: null } })}\n\n`,
};

/** The extra chunk that `stream_options.include_usage` adds; strict clients that did not ask choke on it. */
export function isUsageOnlyChunk(data: string): boolean {
  if (!data.includes('"usage"')) return false;
  const body = parseObject(data);
  return body !== undefined && isUsageOnly(body);
}

function isUsageOnly(body: JsonObject): boolean {
  const choices = body['choices'];
  return Array.isArray(choices) && choices.length === 0 && asObject(body['usage']) !== undefined;
}

function streamReader(): StreamReader {
  let usage: Usage | undefined;
  let done = false;
  let finished = false;
  let failed = false;
  let cutByCap = false;
  let streamedBytes = 0;
  return {
    accept({ data }) {
      if (data === undefined) return;
      if (data.trim() === '[DONE]') {
        done = true;
        return;
      }
      const body = parseObject(data);
      if (body === undefined) return;
      usage = normalForm(statedUsage(body)) ?? usage;
      failed ||= asObject(body['error']) !== undefined;
      finished ||= isUsageOnly(body);
      for (const choice of asArray(body['choices']).map(asObject)) {
        streamedBytes += deltaBytes(asObject(choice?.['delta']));
        finished ||= asText(choice?.['finish_reason']) !== undefined;
        cutByCap ||= choice?.['finish_reason'] === 'length';
      }
    },
    reading: () => ({ usage, done, finished: finished || done, failed, cutByCap, streamedBytes }),
  };
}

/** One upstream states it in its own place, and may state it in both: it is one usage, never a sum. */
function statedUsage(body: JsonObject): JsonObject | undefined {
  return asObject(body['usage']) ?? asObject(asObject(body['x_groq'])?.['usage']);
}

function normalForm(usage: JsonObject | undefined): Usage | undefined {
  const prompt = asCount(usage?.['prompt_tokens']);
  const output = asCount(usage?.['completion_tokens']);
  if (usage === undefined || (prompt === undefined && output === undefined)) return undefined;
  const details = asObject(usage['prompt_tokens_details']);
  const cacheRead = asCount(details?.['cached_tokens']) ?? asCount(usage['prompt_cache_hit_tokens']) ?? 0;
  const cacheWrite = asCount(details?.['cache_write_tokens']) ?? 0;
  return {
    input: Math.max(0, (prompt ?? 0) - cacheRead - cacheWrite),
    cacheRead,
    cacheWrite5m: cacheWrite,
    cacheWrite1h: 0,
    output: output ?? 0,
    reasoning: asCount(asObject(usage['completion_tokens_details'])?.['reasoning_tokens']) ?? 0,
  };
}

function deltaBytes(delta: JsonObject | undefined): number {
  if (delta === undefined) return 0;
  const calls = asArray(delta['tool_calls']).map((call) => asObject(asObject(call)?.['function'])?.['arguments']);
  const texts = [delta['content'], delta['reasoning_content'], delta['refusal'], ...calls];
  return texts.reduce<number>((sum, text) => sum + Buffer.byteLength(asText(text) ?? ''), 0);
}
