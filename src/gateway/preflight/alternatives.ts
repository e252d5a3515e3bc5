import type { Protocol } from '../../policy/policy.ts';
import { CALL_PATHS } from '../routes.ts';
import { upstreamUrl } from '../upstream-url.ts';

export interface Endpoint {
  readonly baseUrl: string;
  readonly pathStyle: 'auto' | 'raw';
}

/** The URL that calls of a protocol go to. */
export function endpointUrl({ baseUrl, pathStyle }: Endpoint, protocol: Protocol): URL {
  return upstreamUrl({ baseUrl, pathStyle, path: CALL_PATHS[protocol], search: '' });
}

export interface Alternative {
  readonly url: URL;
  /** What to write for it to be used. */
  readonly setting: string;
}

/**
 * Where else the endpoint may be when nothing is served at the joined URL: two places on the same host, so that the key
 * goes nowhere that it would not have gone. Source: the bases that clients' issue trackers tell of (field case B30).
 */
export function alternativesOf(endpoint: Endpoint, protocol: Protocol): readonly Alternative[] {
  const base = new URL(endpoint.baseUrl);
  const root = base.origin + base.pathname.replace(/\/+$/, '');
  const special =
    protocol === 'anthropic' ? { ...endpoint, baseUrl: `${root}/anthropic` } : { ...endpoint, baseUrl: root };
  const places: readonly Endpoint[] = [
    { ...special, pathStyle: 'raw' },
    { baseUrl: base.origin, pathStyle: 'auto' },
    { baseUrl: `${base.origin}/api`, pathStyle: 'auto' },
    { baseUrl: root, pathStyle: 'auto' },
  ];
  const seen = new Set([endpointUrl(endpoint, protocol).href]);
  const others = places.flatMap((place): Alternative[] => {
    const url = endpointUrl(place, protocol);
    if (seen.has(url.href)) return [];
    seen.add(url.href);
    return [{ url, setting: settingOf(place) }];
  });
  return others.slice(0, 2);
}

function settingOf({ baseUrl, pathStyle }: Endpoint): string {
  return `gateway.base_url: ${baseUrl} and gateway.path_style: ${pathStyle}`;
}
