/** The small Python project of the demo: path → content. */
export const DEMO_PROJECT: Readonly<Record<string, string>> = {
  'pyproject.toml': '[project]\nname = "textkit"\nversion = "0.1.0"\n',
  'README.md': '# textkit\n\nSmall helpers for text.\n',
  'src/textkit/__init__.py': '"""Small helpers for text."""\n',
  'src/textkit/slug.py': [
    '"""Slugs for URLs."""',
    '',
    '',
    'def slugify(title):',
    '    return title.lower().replace(" ", "-")',
    '',
  ].join('\n'),
  'src/textkit/wrap.py': [
    '"""Word wrapping."""',
    '',
    '',
    'def wrap(text, width):',
    '    return [text[start:start + width] for start in range(0, len(text), width)]',
    '',
  ].join('\n'),
  'tests/__init__.py': '',
  'tests/test_slug.py': testModule(
    'slug',
    'slugify',
    'SlugifyTest',
    'test_spaces',
    'slugify("Two words"), "two-words"',
  ),
  'tests/test_wrap.py': testModule('wrap', 'wrap', 'WrapTest', 'test_short', 'wrap("abc", 5), ["abc"]'),
};

export const DEMO_REQUEST = 'Make slugify drop punctuation, and make wrap break between words.';

/** The role policies are those that `init` writes, with budgets small enough to be reached. */
export const DEMO_CODER_BUDGET = 30_000;

function testModule(module: string, name: string, className: string, method: string, expectation: string): string {
  return [
    'import unittest',
    '',
    `from textkit.${module} import ${name}`,
    '',
    '',
    `class ${className}(unittest.TestCase):`,
    `    def ${method}(self):`,
    `        self.assertEqual(${expectation})`,
    '',
  ].join('\n');
}
