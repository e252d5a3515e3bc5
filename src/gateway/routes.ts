import type { Protocol } from '../policy/policy.ts';

export type Route =
  | { readonly kind: 'call'; readonly protocol: Protocol; readonly path: string }
  | { readonly kind: 'count-tokens'; readonly protocol: 'anthropic'; readonly path: string }
  | { readonly kind: 'models' };

/** Where a call of each protocol goes, in its plain form. */
export const CALL_PATHS = {
  anthropic: '/v1/messages',
  'openai-chat': '/v1/chat/completions',
  'openai-responses': '/v1/responses',
} as const satisfies Record<Protocol, string>;

/**
 * The allow-list of endpoints; undefined is a 404. `path` is the upstream path in its plain form.
 *
 * Clients put a base URL and a suffix together in several ways (facts/gateway.md B.4): a missing or repeated `/v1` and
 * a doubled suffix are taken, anything else (encoded characters, another case, double slashes) is not.
 */
export function routeOf(method: string | undefined, pathname: string): Route | undefined {
  const wanted = ENDPOINTS.find((endpoint) => endpoint.method === method && endpoint.pattern.test(pathname));
  return wanted?.route;
}

const ENDPOINTS: readonly { readonly method: string; readonly pattern: RegExp; readonly route: Route }[] = [
  {
    method: 'POST',
    pattern: suffixPattern('messages'),
    route: { kind: 'call', protocol: 'anthropic', path: CALL_PATHS.anthropic },
  },
  {
    method: 'POST',
    pattern: suffixPattern('messages', 'messages/count_tokens'),
    route: { kind: 'count-tokens', protocol: 'anthropic', path: '/v1/messages/count_tokens' },
  },
  {
    method: 'POST',
    pattern: suffixPattern('chat/completions'),
    route: { kind: 'call', protocol: 'openai-chat', path: CALL_PATHS['openai-chat'] },
  },
  {
    method: 'POST',
    pattern: suffixPattern('responses'),
    route: { kind: 'call', protocol: 'openai-responses', path: CALL_PATHS['openai-responses'] },
  },
  { method: 'GET', pattern: /^(?:\/v1)*\/models$/, route: { kind: 'models' } },
];

/** `base` may already stand in the configured URL, once. */
function suffixPattern(base: string, suffix = base): RegExp {
  return new RegExp(`^(?:(?:/v1)*/${base})?(?:/v1)*/${suffix}$`);
}
