import type { Operation } from '../domain/decision.ts';
import type { RoleName } from '../domain/ids.ts';
import type { RepoPath } from '../domain/path.ts';
import { compileDecider } from './decide.ts';
import { compileGlobs } from './glob.ts';
import { expandListVariables } from './list-variables.ts';
import type { PolicySet, Problem, Rule } from './policy.ts';
import { PROFILE_NAMES, readProfile } from './profile-file.ts';

export interface PolicyLint {
  readonly problems: readonly Problem[];
  /** Tracked paths that no role may write or ask for; how many, and the first few. */
  readonly unowned: { readonly count: number; readonly first: readonly RepoPath[] };
}

/** Compares the policies with the tracked paths. Everything here is a warning. */
export function lintPolicies(set: PolicySet, trackedPaths: readonly RepoPath[]): PolicyLint {
  const shipped = shippedGlobs(set);
  const lists = [...set.roles].flatMap(([role, policy]) =>
    LISTS.map((list) => ({ where: `${role} ${list}`, rules: policy[list] })),
  );
  const all = [
    { where: 'never', rules: set.global.never },
    { where: 'generated', rules: set.global.generated.globs },
    ...lists,
  ];
  const problems = all.flatMap(({ where, rules }) =>
    rules.flatMap((rule) => unmatched(rule, where, trackedPaths, shipped)),
  );
  return { problems: [...problems, ...overlaps(set, trackedPaths)], unowned: findUnowned(set, trackedPaths) };
}

const LISTS = ['write', 'deny', 'ask', 'createOnly', 'notDeny', 'notWrite'] as const;
const SHOWN = 5;

/** Globs of the shipped profiles are made for many repositories; that one matches nothing here says nothing. */
function shippedGlobs(set: PolicySet): ReadonlySet<string> {
  const globs = PROFILE_NAMES.flatMap((name) => {
    const { never = [], generated, roles = {} } = readProfile(name).content;
    return [...never, ...(generated?.globs ?? []), ...Object.values(roles).flatMap(globsOf)];
  });
  return new Set(
    globs.flatMap((glob) => {
      const expansion = expandListVariables(glob, set.global.vars);
      return expansion.ok ? expansion.globs : [];
    }),
  );
}

function globsOf(lists: Readonly<Record<string, unknown>>): readonly string[] {
  return Object.values(lists).flatMap((list) => (Array.isArray(list) ? list.map(String) : []));
}

function unmatched(
  rule: Rule,
  where: string,
  paths: readonly RepoPath[],
  shipped: ReadonlySet<string>,
): readonly Problem[] {
  if (shipped.has(rule.glob)) return [];
  const exact = compileGlobs([rule.glob], { foldCase: false });
  if (paths.some((path) => exact.matches(path))) return [];
  const folded = compileGlobs([rule.glob], { foldCase: true });
  const near = paths.find((path) => folded.matches(path));
  const message =
    near === undefined
      ? `glob "${rule.glob}" (${where}) matches no tracked path`
      : `glob "${rule.glob}" (${where}) matches nothing, but differs only in case from ${near}`;
  return [{ severity: 'warning', ...placeOf(rule), message }];
}

/** Pairs of roles that may both write a tracked path, once per pair of globs. */
function overlaps(set: PolicySet, paths: readonly RepoPath[]): readonly Problem[] {
  const decider = compileDecider(set, new Set());
  const roles = [...set.roles.keys()];
  const found = new Map<string, Problem>();
  for (const path of paths) {
    const writers = roles.flatMap((role) => {
      const verdict = decider.decide(role, 'modify', path);
      return verdict.decision === 'write' ? [{ role, rule: ruleOf(set, role, verdict.rule) }] : [];
    });
    const [first, ...others] = writers;
    for (const other of first === undefined ? [] : others) {
      if (first?.rule === undefined || other.rule === undefined) continue;
      const message = `glob "${other.rule.glob}" (${other.role} write) overlaps "${first.rule.glob}" (${first.role} write), for example at ${path}`;
      const key = `${first.rule.origin} ${first.rule.glob} ${other.rule.origin} ${other.rule.glob}`;
      if (!found.has(key)) found.set(key, { severity: 'warning', ...placeOf(other.rule), message });
    }
  }
  return [...found.values()];
}

function ruleOf(set: PolicySet, role: RoleName, glob: string | undefined): Rule | undefined {
  return set.roles.get(role)?.write.find((rule) => rule.glob === glob);
}

function findUnowned(set: PolicySet, paths: readonly RepoPath[]): PolicyLint['unowned'] {
  const decider = compileDecider(set, new Set());
  const roles = [...set.roles.keys()];
  // What may only be created (a news entry) is in the lane of the role that creates it, changed by nobody on purpose.
  const isClosed = (path: RepoPath, operation: Operation): boolean =>
    roles.every((role) => ['out', 'deny'].includes(decider.decide(role, operation, path).decision));
  const unowned = paths.filter((path) => isClosed(path, 'modify') && isClosed(path, 'create'));
  return { count: unowned.length, first: unowned.slice(0, SHOWN) };
}

function placeOf(rule: Rule): { readonly file: string; readonly line: number; readonly column: number } {
  const match = /^(.*?):(\d+)$/u.exec(rule.origin);
  return { file: match?.[1] ?? rule.origin, line: Number(match?.[2] ?? 1), column: 1 };
}
