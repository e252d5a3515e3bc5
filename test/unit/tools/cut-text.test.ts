import { describe, expect, it } from 'vitest';
import { collectHeadAndTail, cutLines } from '../../../src/agents/builtin/worker/cut-text.ts';

describe('collectHeadAndTail', () => {
  it('keeps everything that fits', () => {
    const output = collectHeadAndTail(10);
    for (const chunk of ['abc', 'defg', 'hij']) output.add(Buffer.from(chunk));
    expect(output.text()).toBe('abcdefghij');
  });

  it('keeps head and tail of what does not, and says how much is missing', () => {
    const output = collectHeadAndTail(10);
    for (const chunk of ['abc', 'defghijklmn', 'opqrstuvwxyz']) output.add(Buffer.from(chunk));
    expect(output.text()).toBe('abcde\n[… 16 bytes left out of 26 …]\nvwxyz');
  });
});

describe('cutLines', () => {
  it('keeps whole lines up to either limit and counts the rest', () => {
    expect(cutLines(['aa', 'bb', 'cc'], { bytes: 6, lines: 9 })).toEqual({ kept: ['aa', 'bb'], left: 1 });
    expect(cutLines(['aa', 'bb', 'cc'], { bytes: 99, lines: 1 })).toEqual({ kept: ['aa'], left: 2 });
    expect(cutLines(['aa', 'bb', 'cc'], { bytes: 99, lines: 9 })).toEqual({ kept: ['aa', 'bb', 'cc'], left: 0 });
  });

  it('keeps at least one line', () => {
    expect(cutLines(['abcdef'], { bytes: 2, lines: 9 }).kept).toEqual(['abcdef']);
  });
});
