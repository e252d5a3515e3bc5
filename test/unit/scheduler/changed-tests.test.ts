import { expect, it } from 'vitest';
import { changedTests } from '../../../src/scheduler/changed-tests.ts';

const present = new Set([
  'Lib/test/test_json/__init__.py',
  'Lib/test/test_textwrap.py',
  'Lib/test/test_new.py',
  'Lib/test/support/__init__.py',
]);

it.each([
  [['Lib/textwrap.py'], ['test.test_textwrap']],
  [['Lib/json/decoder.py', 'Lib/test/test_json/test_decode.py'], ['test.test_json']],
  [
    ['Lib/test/test_new.py', 'Lib/textwrap.py'],
    ['test.test_new', 'test.test_textwrap'],
  ],
  [['Lib/test/support/__init__.py', 'Lib/without_test.py', 'Doc/library/json.rst', 'Lib/test/test_gone.py'], []],
])('%j calls for %j', (changed, modules) => {
  expect(changedTests(changed, present)).toEqual(modules);
});
