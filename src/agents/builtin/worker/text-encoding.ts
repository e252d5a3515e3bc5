import { isUtf8 } from 'node:buffer';
import { Failure } from './failure.ts';

export type TextEncoding = 'utf8' | 'latin1';

/** UTF-8 where the bytes are; else latin1, in which every byte is a character and comes back as it was. */
export function encodingOf(bytes: Buffer, path: string): TextEncoding {
  if (bytes.includes(0)) {
    throw new Failure(`${path} is binary (it holds NUL bytes) and can't be read or edited as text. Use run_command.`);
  }
  return isUtf8(bytes) ? 'utf8' : 'latin1';
}

/** The bytes of `text` as a file in this encoding would hold them, one character a byte; undefined when it can't. */
export function toByteText(text: string, encoding: TextEncoding): string | undefined {
  if (encoding === 'latin1') return /[^\u0000-\u00ff]/.test(text) ? undefined : text;
  return Buffer.from(text, 'utf8').toString('latin1');
}
