import type { AskClass } from '../domain/decision.ts';
import type { RepoPath } from '../domain/path.ts';

/**
 * Text asks (docs, changelog, readme, licence) need only the approval inside the merge checkpoint. Files that steer a
 * build or an agent are hard in spite of their text ending.
 */
export function askClassOf(path: RepoPath): AskClass {
  const name = path.slice(path.lastIndexOf('/') + 1);
  if (/^requirements.*\.txt$/isu.test(name) || /^(AGENTS|CLAUDE|GEMINI)\.md$/iu.test(name)) return 'hard';
  if (/^(README|LICENSE|CHANGE|HISTORY|NEWS|AUTHORS|CONTRIBUTING)/u.test(name)) return 'text';
  return /\.(md|rst|txt)$/u.test(name) ? 'text' : 'hard';
}
