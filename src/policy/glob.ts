import micromatch from 'micromatch';
import { globProblem } from './glob-check.ts';

/** A list of globs behind one RegExp; asking is about a microsecond, naming the glob that hit a few more. */
export interface GlobList {
  matches(path: string): boolean;
  /** Index of the first glob that matches, undefined for none. */
  firstMatch(path: string): number | undefined;
}

/**
 * Compiles globs (already free of `${…}`) to one matcher. With `foldCase` paths that a case-folding volume would take
 * for the same file match too. Throws on a glob that `globProblem` names; callers check first.
 */
export function compileGlobs(globs: readonly string[], options: { readonly foldCase: boolean }): GlobList {
  if (globs.length === 0) return EMPTY;
  const fold = options.foldCase ? foldForCaseInsensitiveVolume : sameText;
  const sources = globs.map((glob) => regexSource(fold(glob)));
  // 's': a newline in a path is an ordinary character; without it `dir/**` would not cover "dir/a\nb".
  // 'u': `?` is one code point.
  const all = new RegExp(sources.join('|'), 'su');
  const each = sources.map((source) => new RegExp(source, 'su'));
  return {
    matches: (path) => all.test(fold(path)),
    firstMatch(path) {
      const text = fold(path);
      if (!all.test(text)) return undefined;
      return each.findIndex((regex) => regex.test(text));
    },
  };
}

/**
 * Maps every path that a case-insensitive, normalising volume treats as one file to one text. Upper then lower case
 * also folds the long s and the Kelvin sign, which a plain lower-casing leaves apart.
 */
function foldForCaseInsensitiveVolume(text: string): string {
  return text.normalize('NFC').toUpperCase().toLowerCase().normalize('NFC');
}

const EMPTY: GlobList = { matches: () => false, firstMatch: () => undefined };

function sameText(text: string): string {
  return text;
}

function regexSource(glob: string): string {
  const problem = globProblem(glob);
  if (problem !== undefined) throw new RangeError(`glob "${glob}" ${problem}`);
  const { source } = micromatch.makeRe(glob, { dot: true });
  // picomatch escapes characters that need none, which the `u` flag refuses; inside a class `\-` is one that is needed.
  return source.replace(
    /(\[(?:\\.|[^\]\\])*\])|\\([^^$\\.*+?()[\]{}|/A-Za-z0-9])/gu,
    (_, kept, plain) => kept ?? plain,
  );
}
