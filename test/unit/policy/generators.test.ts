// biome-ignore-all lint/suspicious/noTemplateCurlyInString: policy files hold ${…}
import { expect, test } from 'vitest';
import { expandGenerators, generatorOf } from '../../../src/policy/generators.ts';

const written = [
  { output: '**/clinic/*.{c.h,h.h}', command: 'make clinic' },
  { output: '${code}/made.py', command: 'make made' },
  { output: '${gone}/x', command: 'make x' },
];
const generators = expandGenerators(written, { code: ['src', 'lib'] });

test.each([
  ['Modules/clinic/a.c.h', 'make clinic'],
  ['lib/made.py', 'make made'],
  ['src/made.py', 'make made'],
  ['src/clinic/a.c', undefined],
  ['gone/x', undefined],
])('%s is made by %s', (path, command) => {
  expect(generatorOf(generators, path)?.command).toBe(command);
});
