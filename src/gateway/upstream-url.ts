/**
 * The URL that a call goes to. `auto` takes whatever form of base URL people paste; `raw` joins as the vendors' own
 * clients do: the Messages path with its `/v1`, the others without, so that a base with another version works.
 */
export function upstreamUrl(options: {
  baseUrl: string;
  pathStyle: 'auto' | 'raw';
  /** `/v1/messages` */
  path: string;
  /** `?beta=true` or empty */
  search: string;
}): URL {
  const base = new URL(options.baseUrl);
  const trimmed = base.pathname.replace(/\/+$/, '');
  const isMessages = options.path.startsWith('/v1/messages');
  const joined =
    options.pathStyle === 'auto'
      ? trimmed.replace(/\/(?:chat\/completions|responses|messages)$/, '').replace(/(?:\/v1)+$/, '') + options.path
      : trimmed + (isMessages ? options.path : options.path.replace(/^\/v1/, ''));
  base.pathname = joined;
  base.search = options.search;
  return base;
}
