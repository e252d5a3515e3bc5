import { upstreamWords } from '../upstream-call.ts';
import type { Exchange } from './minimal-request.ts';

/** Status, content type and the first words: what a person needs to ask a provider about it. */
export function answered({ url, result, text }: Exchange): string {
  const type = result.kind === 'answered' ? String(result.headers['content-type'] ?? 'no content type') : '';
  const words = text.trim() === '' ? 'an empty body' : upstreamWords(text).replace(/\s+/g, ' ').slice(0, 200);
  return `${shown(url)} answered ${statusText(result)} (${type}): ${words}`;
}

export function statusText(result: Exchange['result']): string {
  return result.kind === 'answered' ? String(result.status) : 'no answer';
}

export function shown(url: URL): string {
  return url.origin + url.pathname;
}
