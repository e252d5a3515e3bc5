import type { Reply, Script } from './script.ts';
import { tableScript } from './script.ts';

const SLUG = [
  '"""Slugs for URLs."""',
  'import re',
  '',
  '',
  'def slugify(title):',
  '    return re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")',
  '',
].join('\n');

const SLUG_DOCUMENTED = SLUG.replace(
  'def slugify(title):\n',
  'def slugify(title):\n    """Lower case, with one hyphen for whatever is no letter or digit."""\n',
);

const WRAP = [
  '"""Word wrapping."""',
  'import textwrap',
  '',
  '',
  'def wrap(text, width):',
  '    """Lines of at most `width` characters, broken between words."""',
  '    return textwrap.wrap(text, width)',
  '',
].join('\n');

const WEAKENED =
  'import unittest\n\n\nclass SlugifyTest(unittest.TestCase):\n    def test_nothing(self):\n        pass\n';

/** What the demo's model says. Everything that happens with it is real. */
export function demoScript(): Script {
  return tableScript({
    planner: [
      say('Two independent changes, so two tasks.', 6_000, {
        name: 'submit_plan',
        input: {
          tasks: [
            {
              title: 'slugify drops punctuation',
              expected_paths: ['src/textkit/slug.py', 'tests/test_slug.py'],
              instructions: 'Everything that is no letter or digit becomes one hyphen; none at the ends.',
              acceptance: unittest('tests.test_slug.SlugifyTest.test_punctuation'),
            },
            {
              title: 'wrap breaks between words',
              expected_paths: ['src/textkit/wrap.py', 'tests/test_wrap.py'],
              instructions: 'Lines of at most the given width, broken between words.',
              acceptance: unittest('tests.test_wrap.WrapTest.test_words'),
            },
          ],
        },
      }),
      say('The plan is handed in.', 1_000),
    ],
    'T1/coder#1': [
      say('Let me look first.', 4_000, { name: 'read_file', input: { path: 'src/textkit/slug.py' } }),
      say('The old test could be in the way, so I change it.', 3_000, {
        name: 'write_file',
        input: { path: 'tests/test_slug.py', content: WEAKENED },
      }),
      say('Then a script shall do it.', 3_000, {
        name: 'run_command',
        input: { command: 'for f in tests/test_slug.py src/textkit/slug.py; do echo "# touched" >> $f; done' },
      }),
      say('I stay inside my boundary.', 3_000, {
        name: 'write_file',
        input: { path: 'src/textkit/slug.py', content: SLUG },
      }),
      finish('slugify drops punctuation; the existing test is left alone.', 2_000),
    ],
    'T1/coder#2': [
      say('The reviewer wants a docstring.', 3_000, {
        name: 'edit_file',
        input: {
          path: 'src/textkit/slug.py',
          old_text: 'def slugify(title):\n',
          new_text: SLUG_DOCUMENTED.slice(
            SLUG_DOCUMENTED.indexOf('def slugify'),
            SLUG_DOCUMENTED.indexOf('    return'),
          ),
        },
      }),
      finish('Added the docstring.', 1_000),
    ],
    'T1/test#1': [
      addTest('slug', 'test_punctuation', 'slugify("Hello, World!"), "hello-world"'),
      finish('Added test_punctuation.', 1_500),
    ],
    'T1/test#2': [finish('The test of the first round still holds.', 1_000)],
    'T1/reviewer#1': [
      review('request_changes', [
        { path: 'src/textkit/slug.py', line: 5, severity: 'minor', text: 'slugify has no docstring' },
      ]),
      finish('One thing is missing.', 800),
    ],
    'T1/reviewer#2': [review('approve', []), finish('Good.', 800)],
    'T2/coder#1': [
      say('Let me look first.', 14_000, { name: 'read_file', input: { path: 'src/textkit/wrap.py' } }),
      say('And at its test.', 14_000, { name: 'read_file', input: { path: 'tests/test_wrap.py' } }),
      say('textwrap does this.', 9_000, { name: 'write_file', input: { path: 'src/textkit/wrap.py', content: WRAP } }),
      finish('wrap uses textwrap.', 2_000),
    ],
    'T2/test#1': [
      addTest('wrap', 'test_words', 'wrap("one two three", 7), ["one two", "three"]'),
      finish('Added test_words.', 1_500),
    ],
    'T2/reviewer#1': [review('approve', []), finish('Good.', 800)],
  });
}

function say(text: string, input: number, ...toolCalls: NonNullable<Reply['toolCalls']>[number][]): Reply {
  return { text, toolCalls, usage: { input, output: 300 }, delayMs: 150 };
}

function finish(summary: string, input: number): Reply {
  return say(summary, input, { name: 'finish', input: { summary } });
}

function review(verdict: string, findings: readonly unknown[]): Reply {
  return say('Read the diff.', 3_000, { name: 'submit_review', input: { verdict, findings } });
}

function addTest(module: string, method: string, expectation: string): Reply {
  const old = 'unittest.TestCase):\n';
  return say('One more case.', 2_500, {
    name: 'edit_file',
    input: {
      path: `tests/test_${module}.py`,
      old_text: old,
      new_text: `${old}    def ${method}(self):\n        self.assertEqual(${expectation})\n\n`,
    },
  });
}

function unittest(name: string): string {
  return `PYTHONPATH=src python3 -m unittest ${name}`;
}
