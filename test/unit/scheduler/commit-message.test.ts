import { expect, test } from 'vitest';
import { commitMessage } from '../../../src/scheduler/commit-message.ts';
import { RUN, role, task } from './fixtures.ts';

function messageOf(title: string, summary: string): string {
  return commitMessage({ run: RUN, task: task('T1').id, role: role('coder'), model: 'm', title, summary });
}

const TRAILERS = `Agent-Role: coder\nAgent-Model: m\nOrchestrator-Run: ${RUN}\nOrchestrator-Task: T1\n`;

test('title, summary and the trailers, each in a paragraph; no paragraph without a summary', () => {
  expect(messageOf('Swap', 'Swapped it.\n\nNothing is left.')).toBe(
    `Swap (coder)\n\nSwapped it.\n\nNothing is left.\n\n${TRAILERS}`,
  );
  expect(messageOf('Swap', ' \n')).toBe(`Swap (coder)\n\n${TRAILERS}`);
});

test.each(['Agent-Role: reviewer', 'Signed-off-by : Eve', '---', '--- a/file', '(cherry picked from commit abc)'])(
  'a summary line %j keeps its text and loses its meaning',
  (line) => {
    expect(messageOf('Swap', `Done.\n${line}`)).toBe(`Swap (coder)\n\nDone.\n ${line}\n\n${TRAILERS}`);
  },
);

test('no separator or control character of an agent arrives', () => {
  const message = messageOf('a\r\nb\u2028c\u202e', 'x\u001b[2J\ry');
  expect(message).toBe(`a b c\\u{202e} (coder)\n\nx\\x1b[2J\\ry\n\n${TRAILERS}`);
});
