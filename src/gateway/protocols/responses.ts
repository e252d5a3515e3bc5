import type { Usage } from '../../domain/usage.ts';
import { asArray, asCount, asObject, asText, type JsonObject, parseObject } from '../json.ts';
import type { Dialect, StreamReader } from './dialect.ts';

/** The Responses protocol. Usage is in the terminal event, whichever of the three it is. */
export const responses: Dialect = {
  protocol: 'openai-responses',
  capFields: ['max_output_tokens'],
  refusalStatus: 400,
  keyHeaders: (key) => ({ authorization: `Bearer ${key}` }),
  firstMessage: (body) => (typeof body['input'] === 'string' ? body['input'] : asArray(body['input'])[0]),
  thinkingBudget: () => 0,
  isAnswer: (body) => Array.isArray(body['output']),
  usageOf: (body) => normalForm(asObject(body['usage'])),
  isCutByCap,
  streamReader,
  streamError(message) {
    const response = {
      id: 'resp_cut',
      object: 'response',
      status: 'failed',
      error: { code: 'server_error', message },
      output: [],
      usage: null,
    };
    return `event: response.failed\ndata: ${JSON.stringify({ type: 'response.failed', response })}\n\n`;
  },
};

const TERMINAL: ReadonlySet<string> = new Set(['response.completed', 'response.incomplete', 'response.failed']);

function streamReader(): StreamReader {
  let usage: Usage | undefined;
  let done = false;
  let failed = false;
  let cutByCap = false;
  let streamedBytes = 0;
  return {
    accept({ data }) {
      const body = data === undefined ? undefined : parseObject(data);
      const type = asText(body?.['type']);
      if (body === undefined || type === undefined) return;
      if (type.endsWith('.delta')) streamedBytes += Buffer.byteLength(asText(body['delta']) ?? '');
      if (type === 'error') failed = true;
      if (!TERMINAL.has(type)) return;
      done = true;
      const response = asObject(body['response']);
      usage = normalForm(asObject(response?.['usage'])) ?? usage;
      cutByCap = response !== undefined && isCutByCap(response);
    },
    reading: () => ({ usage, done, finished: done, failed, cutByCap, streamedBytes }),
  };
}

function isCutByCap(response: JsonObject): boolean {
  return asObject(response['incomplete_details'])?.['reason'] === 'max_output_tokens';
}

function normalForm(usage: JsonObject | undefined): Usage | undefined {
  const total = asCount(usage?.['input_tokens']);
  const output = asCount(usage?.['output_tokens']);
  if (usage === undefined || (total === undefined && output === undefined)) return undefined;
  const details = asObject(usage['input_tokens_details']);
  const cacheRead = asCount(details?.['cached_tokens']) ?? 0;
  const cacheWrite = asCount(details?.['cache_write_tokens']) ?? 0;
  return {
    input: Math.max(0, (total ?? 0) - cacheRead - cacheWrite),
    cacheRead,
    cacheWrite5m: cacheWrite,
    cacheWrite1h: 0,
    output: output ?? 0,
    reasoning: asCount(asObject(usage['output_tokens_details'])?.['reasoning_tokens']) ?? 0,
  };
}
