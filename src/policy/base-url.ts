export type BaseUrl =
  | { readonly ok: true; readonly url: string; readonly note?: string }
  | { readonly ok: false; readonly problem: string };

/**
 * The root of a model endpoint out of what people paste: clients append `/v1/…` themselves, so a trailing API path is
 * stripped and a note says so; with the path style `raw` the path stays what it is. The problem never quotes the URL,
 * which may hold a credential.
 */
export function normalizeBaseUrl(written: string, pathStyle: 'auto' | 'raw' = 'auto'): BaseUrl {
  const text = written.trim();
  if (!URL.canParse(text))
    return { ok: false, problem: 'is not a URL: give the root, https://host or https://host/api' };
  const url = new URL(text);
  if (url.protocol !== 'https:' && url.protocol !== 'http:') {
    return { ok: false, problem: 'must begin with https:// or http://' };
  }
  if (url.username !== '' || url.password !== '') {
    return { ok: false, problem: 'holds a user name or password: keys belong to ORCH_KEY_<ROLE>' };
  }
  if (url.search !== '' || url.hash !== '') return { ok: false, problem: 'holds `?` or `#`: give the root only' };
  const path = pathStyle === 'raw' ? url.pathname.replace(/\/+$/u, '') : stripApiPath(url.pathname);
  const root = `${url.origin}${path}`;
  if (root === written) return { ok: true, url: root };
  if (pathStyle === 'raw') return { ok: true, url: root };
  return { ok: true, url: root, note: `base URL shortened to its root ${root}; the API path is added per request` };
}

const API_PATHS = /\/(v1|messages|chat\/completions|completions|responses|anthropic)$/u;

function stripApiPath(path: string): string {
  let rest = path.replace(/\/{2,}/g, '/').replace(/\/$/u, '');
  while (API_PATHS.test(rest)) rest = rest.replace(API_PATHS, '');
  return rest;
}
