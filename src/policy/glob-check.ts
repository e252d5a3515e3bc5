import micromatch from 'micromatch';

/**
 * Why a glob is refused, as the end of a sentence ("starts with `/`: …"), or undefined when it is fine. Refused is
 * what never matches a repository path, what reads differently from how it matches, and what can be made slow by a
 * path that an agent chooses (measured: `*a*a*a/*a*a*z` takes 45 s on one path of 1,024 characters).
 */
export function globProblem(glob: string): string | undefined {
  for (const { found, problem } of TEXT_RULES) if (found.test(glob)) return problem;
  const expanded = expandBraces(glob);
  if (expanded === undefined) return 'has braces that do not close or expand to too many patterns';
  for (const pattern of expanded) {
    const problem = costProblem(pattern);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

const TEXT_RULES: readonly { readonly found: RegExp; readonly problem: string }[] = [
  { found: /^$/, problem: 'is empty' },
  { found: /^\//, problem: 'starts with `/`: paths are relative to the top of the repository' },
  { found: /\\/, problem: 'holds a backslash: separate with `/`, match a special character with `[…]`' },
  { found: /(^|\/)\.\.(\/|$)/, problem: 'holds `..`: name the path from the top of the repository' },
  { found: /(^|\/)\.(\/|$)/, problem: 'holds `.` as a directory: leave it out' },
  { found: /\/\//, problem: 'holds `//`: one slash separates' },
  { found: /\/$/, problem: 'ends with `/`: write `dir/**` for everything below a directory' },
  { found: /\0|\n|\r/, problem: 'holds a control character' },
  { found: /^!(?!\()/, problem: 'starts with `!`: lists hold what matches; exceptions go to not_deny or not_write' },
  { found: /(^|[^*])\*{3,}/, problem: 'holds `***`' },
  { found: /[^/{,]\*\*|\*\*[^/},]/, problem: 'has `**` beside other text: it must stand alone between slashes' },
  { found: /(^|[^!@])\(/, problem: 'holds `(`: only `!(a|b)` and `@(a|b)` are known' },
  { found: /[)}\]]\+|\)[*?]/, problem: 'repeats a group: only `!(a|b)` and `@(a|b)` are known' },
  { found: /\$\{/, problem: 'holds `${`: list variables are lower case and listed under `vars:`' },
];

const LONGEST_EXPANSION = 512;
const STARS_PER_SEGMENT = 3;
const DEEP_STARS = 3;
/** Nested choices that a path may force a matcher to try: each further `*` of a segment, each `**` before the end. */
const STAR_CHOICES = 2;
const ALL_CHOICES = 3;

function expandBraces(glob: string): readonly string[] | undefined {
  if (!balanced(glob)) return undefined;
  try {
    const patterns = micromatch.braces(glob, { expand: true });
    return patterns.length <= LONGEST_EXPANSION ? patterns : undefined;
  } catch {
    return undefined;
  }
}

function costProblem(pattern: string): string | undefined {
  const segments = pattern.split('/');
  const deep = segments.slice(0, -1).filter((segment) => segment === '**').length;
  let choices = 0;
  for (const segment of segments) {
    if (segment === '**') continue;
    const stars = segment.replace(/\[[^\]]*\]/g, '').match(/\*|!\(/g)?.length ?? 0;
    if (stars > STARS_PER_SEGMENT) return `has more than ${STARS_PER_SEGMENT} \`*\` between two slashes`;
    choices += Math.max(0, stars - 1);
  }
  if (deep > DEEP_STARS) return `has more than ${DEEP_STARS} \`**\` before its end`;
  const tooMany = choices > STAR_CHOICES || choices + deep > ALL_CHOICES;
  return tooMany ? 'has too many `*` and `**`: split it into simpler globs' : undefined;
}

function balanced(glob: string): boolean {
  const open: string[] = [];
  for (const char of glob) {
    const inClass = open.at(-1) === ']';
    if (char === ']' && !inClass) return false;
    if (inClass) {
      if (char === ']') open.pop();
    } else if (char === '[') open.push(']');
    else if (char === '{') open.push('}');
    else if (char === '(') open.push(')');
    else if ((char === '}' || char === ')') && open.pop() !== char) return false;
  }
  return open.length === 0;
}
