import { expect, test } from 'vitest';
import { asLines, asStanzas } from '../../e2e/support/apt-sources.ts';

test('one-line archives of the release become sources of source packages', () => {
  const text = [
    '# deb http://archive.invalid/old bookworm main',
    'deb [signed-by=/usr/share/keyrings/a.gpg arch=amd64] http://archive.invalid/debian bookworm main contrib # ours',
    'deb-src http://archive.invalid/debian bookworm main',
    'deb http://archive.invalid/debian bookworm-updates main',
    'deb http://vendor.invalid/apt vendor-bookworm main',
    'deb http://archive.invalid/debian bookworm contrib',
  ].join('\n');
  expect(asLines(text, 'bookworm')).toEqual([
    'deb-src [signed-by=/usr/share/keyrings/a.gpg arch=amd64] http://archive.invalid/debian bookworm main',
    'deb-src http://archive.invalid/debian bookworm main',
  ]);
});

test('paragraphs too; a key inside one stays with it, switched off ones are left out', () => {
  const paragraph = (fields: readonly string[]) => `${fields.join('\n')}\n`;
  const text = [
    paragraph([
      'Types: deb',
      '# a comment',
      'URIs: http://archive.invalid/debian',
      'Suites: bookworm bookworm-updates',
      'Components: main',
      'Signed-By:',
      ' -----BEGIN',
      ' .',
      ' -----END',
    ]),
    paragraph(['Types: deb', 'URIs: http://off.invalid', 'Suites: bookworm', 'Components: main', 'Enabled: no']),
    paragraph(['Types: deb', 'URIs: http://vendor.invalid', 'Suites: nodistro', 'Components: main']),
  ].join('\n');
  expect(asStanzas(text, 'bookworm')).toEqual([
    [
      'Types: deb-src',
      'Suites: bookworm',
      'Components: main',
      'URIs: http://archive.invalid/debian',
      'Signed-By:',
      ' -----BEGIN',
      ' .',
      ' -----END',
    ].join('\n'),
  ]);
});
