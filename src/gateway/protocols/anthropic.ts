import type { Usage } from '../../domain/usage.ts';
import { asArray, asCount, asObject, asText, type JsonObject, parseObject } from '../json.ts';
import type { Dialect, StreamReader } from './dialect.ts';

/** The Messages protocol. Its input excludes cache; its stream states usage at the start and, cumulatively, later. */
export const anthropic: Dialect = {
  protocol: 'anthropic',
  capFields: ['max_tokens'],
  refusalStatus: 402,
  keyHeaders: (key) => ({ 'x-api-key': key }),
  firstMessage: (body) => asArray(body['messages'])[0],
  thinkingBudget: (body) => asCount(asObject(body['thinking'])?.['budget_tokens']) ?? 0,
  isAnswer: (body) => Array.isArray(body['content']),
  usageOf: (body) => normalForm(merge({}, asObject(body['usage']))),
  isCutByCap: (body) => body['stop_reason'] === 'max_tokens',
  streamReader,
  streamError: (message) =>
    `event: error\ndata: ${JSON.stringify({ type: 'error', error: { type: 'api_error', message } })}\n\n`,
};

function streamReader(): StreamReader {
  let stated: Stated = {};
  let done = false;
  let finished = false;
  let failed = false;
  let cutByCap = false;
  let streamedBytes = 0;
  return {
    accept({ data }) {
      const body = data === undefined ? undefined : parseObject(data);
      if (body === undefined) return;
      const type = asText(body['type']);
      if (type === 'message_start') stated = merge(stated, asObject(asObject(body['message'])?.['usage']));
      if (type === 'message_delta') {
        stated = merge(stated, asObject(body['usage']));
        const reason = asText(asObject(body['delta'])?.['stop_reason']);
        finished ||= reason !== undefined;
        cutByCap ||= reason === 'max_tokens';
      }
      if (type === 'content_block_delta') streamedBytes += deltaBytes(asObject(body['delta']));
      if (type === 'message_stop') done = true;
      if (type === 'error') failed = true;
    },
    reading: () => ({ usage: normalForm(stated), done, finished: finished || done, failed, cutByCap, streamedBytes }),
  };
}

interface Stated {
  readonly input?: number | undefined;
  readonly cacheRead?: number | undefined;
  readonly cacheWrite?: number | undefined;
  readonly cacheWrite5m?: number | undefined;
  readonly cacheWrite1h?: number | undefined;
  readonly output?: number | undefined;
  readonly reasoning?: number | undefined;
}

/** Field by field: a stated value replaces the earlier one, null and absent leave it. */
function merge(before: Stated, usage: JsonObject | undefined): Stated {
  if (usage === undefined) return before;
  const writes = asObject(usage['cache_creation']);
  const details = asObject(usage['output_tokens_details']);
  return {
    input: asCount(usage['input_tokens']) ?? before.input,
    cacheRead: asCount(usage['cache_read_input_tokens']) ?? before.cacheRead,
    cacheWrite: asCount(usage['cache_creation_input_tokens']) ?? before.cacheWrite,
    cacheWrite5m: asCount(writes?.['ephemeral_5m_input_tokens']) ?? before.cacheWrite5m,
    cacheWrite1h: asCount(writes?.['ephemeral_1h_input_tokens']) ?? before.cacheWrite1h,
    output: asCount(usage['output_tokens']) ?? before.output,
    reasoning: asCount(details?.['thinking_tokens']) ?? asCount(details?.['reasoning_tokens']) ?? before.reasoning,
  };
}

/** The split of cache writes may sum to less than their total; the remainder is priced as five-minute writes. */
function normalForm(stated: Stated): Usage | undefined {
  if (stated.input === undefined && stated.output === undefined) return undefined;
  const oneHour = stated.cacheWrite1h ?? 0;
  const total = Math.max(stated.cacheWrite ?? 0, (stated.cacheWrite5m ?? 0) + oneHour);
  return {
    input: stated.input ?? 0,
    cacheRead: stated.cacheRead ?? 0,
    cacheWrite5m: total - oneHour,
    cacheWrite1h: oneHour,
    output: stated.output ?? 0,
    reasoning: stated.reasoning ?? 0,
  };
}

function deltaBytes(delta: JsonObject | undefined): number {
  const text = delta?.['text'] ?? delta?.['partial_json'] ?? delta?.['thinking'];
  return Buffer.byteLength(asText(text) ?? '');
}
