import { asObject } from './json.ts';

/** What of a request is inline binary data: it costs tokens by picture or page, not by byte. */
export interface Media {
  /** Characters of base64 in the body. */
  readonly encodedBytes: number;
  readonly tokens: number;
}

export function measureMedia(value: unknown): Media {
  let encodedBytes = 0;
  let tokens = 0;
  const visit = (node: unknown, key: string, parent: unknown): void => {
    if (typeof node === 'string') {
      if (node.length < SMALL || !isEncoded(node, key, parent)) return;
      encodedBytes += node.length;
      tokens += isImage(node, parent) ? IMAGE_TOKENS : Math.max(IMAGE_TOKENS, Math.ceil(node.length / DOCUMENT_BYTES));
    } else if (Array.isArray(node)) {
      for (const item of node) visit(item, key, parent);
    } else if (typeof node === 'object' && node !== null) {
      for (const [name, item] of Object.entries(node)) visit(item, name, node);
    }
  };
  visit(value, '', undefined);
  return { encodedBytes, tokens };
}

const SMALL = 64;
/** About what a picture costs at full size (facts/gateway.md D.2). */
const IMAGE_TOKENS = 1600;
/** Base64 bytes of a document for each token that its pages cost, roughly. */
const DOCUMENT_BYTES = 30;

/** Inline data is a data URL, or the `data` member of a source that says that it is base64 (or of input audio). */
function isEncoded(text: string, key: string, parent: unknown): boolean {
  if (/^data:[\w.+-]+\/[\w.+-]+;base64,/.test(text.slice(0, 100))) return true;
  if (key !== 'data') return false;
  const source = asObject(parent);
  return (source?.['type'] === 'base64' || 'format' in (source ?? {})) && /^[A-Za-z0-9+/=]{64}/.test(text);
}

function isImage(text: string, parent: unknown): boolean {
  return text.startsWith('data:image/') || String(asObject(parent)?.['media_type'] ?? '').startsWith('image/');
}
