import { describe, expect, it } from 'vitest';
import { isGitName } from '../../../src/workspace/git-names.ts';

describe('names that are .git somewhere', () => {
  it.each([
    '.git',
    '.GIT',
    '.Git',
    '.g\u200cit',
    '\ufeff.git',
    'git~1',
    'GIT~1',
    '.git.',
    '.git ',
    '.git . ',
    '.git:$i30',
  ])('%j', (name) => {
    expect(isGitName(name)).toBe(true);
  });
  it.each(['.gitignore', '.gitmodules', 'git', '.github', 'git~2', '..git', '.git-x', 'x.git', ' .git'])(
    'not %j',
    (name) => {
      expect(isGitName(name)).toBe(false);
    },
  );
});
