import type { Reply } from '../../../src/cli/demo/script.ts';

/** A small src-layout project with a unittest suite that passes. */
export const SRC_PROJECT: Readonly<Record<string, string>> = {
  'pyproject.toml': '[project]\nname = "pkg"\nversion = "1"\n',
  'src/pkg/__init__.py': '',
  'src/pkg/core.py': 'def add(a, b):\n    return a + b\n',
  'src/pkg/util.py': 'ONE = 1\nTWO = 2\nTHREE = 3\n',
  'tests/__init__.py': '',
  'tests/test_core.py':
    'import unittest\n\nfrom pkg.core import add\n\n\nclass AddTest(unittest.TestCase):\n    def test_add(self):\n        self.assertEqual(add(1, 2), 3)\n',
};

export type Call = { readonly name: string; readonly input: unknown };

export function reply(...toolCalls: Call[]): Reply {
  return { text: 'Working.', toolCalls };
}

export function finish(summary = 'Done.'): Reply {
  return reply({ name: 'finish', input: { summary } });
}

export function command(text: string): Reply {
  return reply({ name: 'run_command', input: { command: text } });
}

export function write(path: string, content: string): Reply {
  return reply({ name: 'write_file', input: { path, content } });
}

export function plan(
  ...tasks: { title: string; expected_paths?: string[]; steps?: string[]; acceptance?: string; depends_on?: number[] }[]
): Reply {
  return reply({
    name: 'submit_plan',
    input: { tasks: tasks.map((task) => ({ expected_paths: [], instructions: task.title, ...task })) },
  });
}

export function approveReview(): Reply {
  return reply({ name: 'submit_review', input: { verdict: 'approve', findings: [] } });
}

/** planner, test and reviewer that do nothing remarkable; the case brings its coder. */
export function quietRoles(steps: string[] = ['coder']): Record<string, Reply[]> {
  return {
    planner: [plan({ title: 'the task', steps }), finish()],
    test: [finish()],
    reviewer: [approveReview(), finish()],
  };
}
