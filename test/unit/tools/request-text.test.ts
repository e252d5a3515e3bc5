import { expect, it } from 'vitest';
import { requestText } from '../../../src/agents/builtin/tools/request-text.ts';

it('shows a waiting call with what it would write', () => {
  const input = { path: 'Modules/a.c', content: 'int a;\nint b;\n' };
  expect(requestText({ id: '1', name: 'write_file', input })).toBe(
    "write_file waits for a human's approval:\npath: Modules/a.c\ncontent:\n  int a;\n  int b;",
  );
});

it('says how much of a long input is left out', () => {
  const text = requestText({ id: '1', name: 'write_file', input: { content: 'x'.repeat(9000) } });
  expect(text).toContain('(5000 more characters)');
  expect(text.length).toBeLessThan(4200);
  expect(requestText({ id: '1', name: 'write_file', input: undefined })).toBe(
    "write_file waits for a human's approval:",
  );
});
