import { expect, test } from 'vitest';
import { keyProblems } from '../../../src/policy/key-shape.ts';

test.each([
  'sk-ant-api03-Zm9vYmFy_-',
  'sk-proj-0123456789abcdef',
  '0123456789abcdef0123456789abcdef',
  'gsk_aB3dE5fG7hI9',
  'xai.tok+en/with==',
])('%s could be a key', (key) => expect(keyProblems(key)).toEqual([]));

test.each([
  ['"sk-0123456789"', 'holds a quote'],
  ['“sk-0123456789”', 'holds a quote'],
  ['sk-01234 56789', 'holds white space'],
  ['sk-0123\n456789', 'holds a control character'],
  ['sk-0123456789\r', 'holds a control character'],
  ['sk-0123456789\u200b', 'no HTTP header takes'],
  ['sk-1', 'is shorter than 8'],
  ['your-api-key', 'is a placeholder'],
  ['sk-your-key-here', 'is a placeholder'],
  ['<paste your key>', 'is a placeholder'],
  ['sk-...', 'is a placeholder'],
  ['sk-xxxxxxxxxxxxxxxx', 'is a placeholder'],
  ['changeme', 'is a placeholder'],
  ['$ANTHROPIC_API_KEY', 'is a placeholder'],
  ['Bearer sk-0123456789', 'begins with "Bearer"'],
  ['ORCH_KEY_CODER=sk-0123456789', 'begins with a variable name'],
])('%j is told apart', (key, clause) => {
  const problems = keyProblems(key);
  expect(problems.join(' and ')).toContain(clause);
  expect(problems.join(' ')).not.toContain('0123456789');
});
