import type { Protocol } from '../../policy/policy.ts';
import { anthropic } from './anthropic.ts';
import { chat } from './chat.ts';
import type { Dialect } from './dialect.ts';
import { responses } from './responses.ts';

export const DIALECTS = {
  anthropic,
  'openai-chat': chat,
  'openai-responses': responses,
} as const satisfies Record<Protocol, Dialect>;
