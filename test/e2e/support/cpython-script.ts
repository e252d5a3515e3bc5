import type { Script } from '../../../src/cli/demo/script.ts';
import { tableScript } from '../../../src/cli/demo/script.ts';
import { approveReview, command, finish, plan, reply, write } from './project.ts';

/** What the interpreter that runs this Lib without a build is called with. */
export const UNITTEST = 'PYTHONPATH=Lib /usr/bin/python3 -m unittest';

export const TOUCHED_TEST = 'Lib/test/test_textwrap.py';
export const ASKED = 'Modules/_textwrap.c';
export const ASKED_CONTENT = '/* Room for a faster wrapper. */\n';
export const STRAY = 'stray/notes.py';

/** What a role was told so far: the texts of tool results in the order of the turns, and what the daemon said beside. */
export type Told = Map<string, { readonly results: readonly string[]; readonly notices: string }>;

/** A small honest change to the library with its test, between tries at what is not the coder's. */
export function cpythonScript(told: Told): Script {
  const table = tableScript({
    planner: [
      reply({ name: 'search', input: { pattern: '^class TextWrapper', glob: 'Lib/*.py' } }),
      plan({
        title: 'TextWrapper says its width in its repr',
        steps: ['coder', 'test', 'reviewer'],
        expected_paths: ['Lib/textwrap.py', TOUCHED_TEST],
        acceptance: `${UNITTEST} test.test_textwrap.ReprTestCase`,
      }),
      finish('One task.'),
    ],
    coder: [
      reply({ name: 'read_file', input: { path: 'Lib/textwrap.py', offset: 110, limit: 40 } }),
      reply({
        name: 'edit_file',
        input: {
          path: 'Lib/textwrap.py',
          old_text: '    # -- Private methods ---',
          new_text:
            '    def __repr__(self):\n        return f"{type(self).__qualname__}(width={self.width})"\n\n\n    # -- Private methods ---',
        },
      }),
      write(ASKED, ASKED_CONTENT),
      write('Lib/keyword.py', 'kwlist = []\n'),
      command(
        `for f in ${TOUCHED_TEST} Lib/keyword.py ${STRAY}; do mkdir -p $(dirname $f); echo "# by a script" >> $f; done; echo tried`,
      ),
      { ...command('git diff --stat'), usage: { input: 35_000, output: 200 } },
      finish('TextWrapper has a repr.'),
    ],
    test: [
      reply({
        name: 'edit_file',
        input: {
          path: TOUCHED_TEST,
          old_text: "\n\nif __name__ == '__main__':",
          new_text: `${NEW_TEST}\n\nif __name__ == '__main__':`,
        },
      }),
      command(`${UNITTEST} test.test_textwrap`),
      finish('Added ReprTestCase.'),
    ],
    reviewer: [
      reply({ name: 'read_file', input: { path: 'Lib/textwrap.py', offset: 110, limit: 45 } }),
      approveReview(),
      finish('Good.'),
    ],
  });
  // Small and known, so that the budget of the coder is reached at one place.
  const usage = { input: 1000, output: 100 };
  return async (request) => {
    const results = request.messages.flatMap((message) => message.toolResults.map((result) => result.text));
    const notices = request.messages.map((message) => message.text).join('\n');
    told.set(request.role ?? '', { results, notices });
    return { usage, ...(await table(request)) };
  };
}

const NEW_TEST = [
  '',
  '',
  'class ReprTestCase(unittest.TestCase):',
  '    def test_repr(self):',
  '        self.assertEqual(repr(TextWrapper(width=30)), "TextWrapper(width=30)")',
  '',
].join('\n');
