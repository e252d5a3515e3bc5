import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { applyEdit } from '../../../src/agents/builtin/worker/apply-edit.ts';

function edited(content: string, oldText: string, newText: string, replaceAll = false): string {
  const result = applyEdit(content, { oldText, newText, replaceAll });
  return result.kind === 'edited' ? result.content : JSON.stringify(result);
}

describe('applyEdit', () => {
  it.each<[string, string, string, string, string]>([
    ['replaces in a line', 'a = 1\nb = 2\n', 'a = 1', 'a = 3', 'a = 3\nb = 2\n'],
    ['keeps a missing last newline', 'a\nb', 'b', 'c', 'a\nc'],
    ['keeps CRLF for an LF old_text', 'a\r\nb\r\nc\r\n', 'a\nb', 'x\ny', 'x\r\ny\r\nc\r\n'],
    ['writes added lines with CRLF', 'a\r\nb\r\n', 'a', 'a\nnew', 'a\r\nnew\r\nb\r\n'],
    ['starts at a newline', 'a\r\nb', '\nb', '\nc', 'a\r\nc'],
    [
      'keeps mixed endings where lines are the same',
      'a\nb\r\nc\nd\r\n',
      'a\nb\nc\nd',
      'a\nB\nc\nd',
      'a\nB\r\nc\nd\r\n',
    ],
    ['keeps what is around in a mixed file', 'a\nb\r\nc\n', 'c', 'x', 'a\nb\r\nx\n'],
    ['matches a CRLF old_text in an LF file', 'a\nb\n', 'a\r\nb', 'x\ny', 'x\ny\n'],
    ['keeps a carriage return that new_text brings', 'a\n', 'a', 'a\r\nb', 'a\r\nb\n'],
    ['takes special characters literally', 'f(x) + $1 ^\n', 'f(x) + $1 ^', '$& \\1', '$& \\1\n'],
    ['deletes', 'a\nb\nc\n', 'b\n', '', 'a\nc\n'],
  ])('%s', (_name, content, oldText, newText, expected) => {
    expect(edited(content, oldText, newText)).toBe(expected);
  });

  it('says how often and where an old_text occurs that is not unique', () => {
    expect(applyEdit('x\ny\nx\n', { oldText: 'x', newText: 'z', replaceAll: false })).toEqual({
      kind: 'several',
      lines: [1, 3],
    });
    expect(edited('x\ny\nx\n', 'x', 'z', true)).toBe('z\ny\nz\n');
  });

  it('takes overlapping places for ambiguous and replaces them once', () => {
    expect(applyEdit('aaa', { oldText: 'aa', newText: 'b', replaceAll: false }).kind).toBe('several');
    expect(edited('aaa', 'aa', 'b', true)).toBe('ba');
  });

  it('names the lines that are meant but for white space', () => {
    const result = applyEdit('if x:\n    y = 1\n', { oldText: '  y = 1\n  z = 2', newText: '', replaceAll: false });
    expect(result).toEqual({ kind: 'none', nearest: [2] });
  });

  it('changes nothing outside of the place, whatever the bytes', () => {
    const text = fc.string({ unit: fc.constantFrom('a', 'b', '\n', '\r\n', ' ', '\xe9') });
    fc.assert(
      fc.property(text, text, text, (before, after, newText) => {
        const result = applyEdit(`${before}<mark>${after}`, { oldText: '<mark>', newText, replaceAll: false });
        const content = result.kind === 'edited' ? result.content : '';
        expect(content.startsWith(before)).toBe(true);
        expect(content.endsWith(after)).toBe(true);
        const middle = content.slice(before.length, content.length - after.length);
        expect(middle.replace(/\r\n/g, '\n')).toBe(newText.replace(/\r\n/g, '\n'));
      }),
    );
  });
});
