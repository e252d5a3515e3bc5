import type { Reply, ReplyCall, Script } from '../../../src/cli/demo/script.ts';
import { tableScript } from '../../../src/cli/demo/script.ts';

/** Every answer has a usage of its own, so that a row of the books or of the ledger names the answer it stands for. */
export function crashScript(delayMs: number): Script {
  let answers = 0;
  const say = (call: ReplyCall, input = 900): Reply => {
    answers += 1;
    return {
      text: 'Working.',
      toolCalls: [call],
      usage: { input: input + 7 * answers, output: 40 + answers },
      delayMs,
    };
  };
  return tableScript({
    planner: [
      say({ name: 'read_file', input: { path: 'src/pkg/core.py' } }),
      say({ name: 'submit_plan', input: { tasks: TASKS } }),
      say(FINISH),
    ],
    'T1/coder': [
      say({ name: 'append_note', input: { text: 'add was wrapped once' } }),
      say(edit('src/pkg/core.py', 'a + b', '(a + b)')),
      say(edit('src/pkg/core.py', 'return ', 'return 0 + ')),
      say(FINISH),
    ],
    'T1/test': [say(edit('tests/test_core.py', 'import unittest\n', 'import unittest\nimport sys\n')), say(FINISH)],
    'T1/reviewer': [say(REVIEW), say(FINISH)],
    'T2/coder': [
      say({ name: 'read_file', input: { path: 'src/pkg/util.py' } }, 14_000),
      say(edit('src/pkg/util.py', 'THREE = 3\n', 'THREE = 3\n# more\n'), 14_000),
      say({ name: 'append_note', input: { text: 'util has one more line' } }, 9000),
      say({ name: 'run_command', input: { command: 'echo FOUR = 4 >> src/pkg/util.py; sleep 0.4' } }),
      say(FINISH),
    ],
    'T2/test': [
      say({ name: 'write_file', input: { path: 'tests/test_util.py', content: UTIL_TEST } }),
      say(edit('tests/test_util.py', '3)\n', '3)\n        self.assertEqual(util.FOUR, 4)\n')),
      say(FINISH),
    ],
    'T2/reviewer': [say(REVIEW), say(FINISH)],
  });
}

const UTIL_TEST =
  'import unittest\n\nfrom pkg import util\n\n\nclass UtilTest(unittest.TestCase):\n    def test_three(self):\n        self.assertEqual(util.THREE, 3)\n';

const TASKS = [
  {
    title: 'wrap add',
    expected_paths: ['src/pkg/core.py', 'tests/test_core.py'],
    instructions: 'Wrap it.',
    acceptance: 'sleep 0.5; grep -q "0 + (a + b)" src/pkg/core.py',
  },
  {
    title: 'lengthen util',
    expected_paths: ['src/pkg/util.py', 'tests/test_util.py'],
    instructions: 'One more line.',
    acceptance: 'sleep 0.5; PYTHONPATH=src python3 -m unittest tests.test_util',
  },
];

const FINISH: ReplyCall = { name: 'finish', input: { summary: 'Done.' } };
const REVIEW: ReplyCall = { name: 'submit_review', input: { verdict: 'approve', findings: [] } };

function edit(path: string, oldText: string, newText: string): ReplyCall {
  return { name: 'edit_file', input: { path, old_text: oldText, new_text: newText } };
}

/** What the target must hold: an edit applied twice, or not at all, shows here. */
export const EXPECTED: Readonly<Record<string, string>> = {
  'src/pkg/core.py': 'def add(a, b):\n    return 0 + (a + b)\n',
  'src/pkg/util.py': 'ONE = 1\nTWO = 2\nTHREE = 3\n# more\nFOUR = 4\n',
  'tests/test_core.py':
    'import unittest\nimport sys\n\nfrom pkg.core import add\n\n\nclass AddTest(unittest.TestCase):\n    def test_add(self):\n        self.assertEqual(add(1, 2), 3)\n',
  'tests/test_util.py': UTIL_TEST.replace('3)\n', '3)\n        self.assertEqual(util.FOUR, 4)\n'),
};

export const NOTES = ['add was wrapped once', 'util has one more line'];

/** The steps that change something: one commit each. */
export const COMMITTED_STEPS = ['T1/coder', 'T1/test', 'T2/coder', 'T2/test'];
