import type { Decision, Operation, Verdict } from '../domain/decision.ts';
import type { RoleName } from '../domain/ids.ts';
import type { RepoPath } from '../domain/path.ts';
import { askClassOf } from './ask-class.ts';
import { compileGlobs, type GlobList } from './glob.ts';
import type { Decider, RolePolicy, Rule } from './policy.ts';
import { staticDenyDirectories } from './static-directories.ts';

/** The part of a policy that decides; a shipped profile is one as well as a loaded PolicySet. */
export interface DecidingPolicy {
  readonly global: {
    readonly never: readonly Rule[];
    /** Attributes count unless they are switched off. */
    readonly generated: { readonly globs: readonly Rule[]; readonly fromGitattributes?: boolean };
  };
  readonly roles: ReadonlyMap<RoleName, Boundary>;
}

export type Boundary = Pick<
  RolePolicy,
  'write' | 'deny' | 'ask' | 'createOnly' | 'createOnlyElse' | 'notDeny' | 'notWrite'
>;

/**
 * Compiles a policy into the one matcher. The first hit decides: never, generated, deny, ask, write, else out.
 * `generated` holds the paths that the base tree's attributes mark. Rules must be checked globs without variables.
 */
export function compileDecider(
  policy: DecidingPolicy,
  generated: ReadonlySet<RepoPath>,
  options: { readonly foldCase?: boolean } = {},
): Decider {
  const foldCase = options.foldCase ?? false;
  const attributes = policy.global.generated.fromGitattributes ?? true;
  const never = ruleList(policy.global.never, foldCase);
  const generatedGlobs = ruleList(policy.global.generated.globs, foldCase);
  const roles = new Map([...policy.roles].map(([role, boundary]) => [role, compileRole(boundary, foldCase)]));
  return {
    decide(role, operation, path) {
      if (path.length > LONGEST_JUDGED_PATH) return { decision: 'out' };
      const barred = never.find(path);
      if (barred) return verdict('never', barred);
      if (attributes && generated.has(path)) return GENERATED_BY_ATTRIBUTE;
      const made = generatedGlobs.find(path);
      if (made) return verdict('generated', made);
      return roles.get(role)?.(operation, path) ?? { decision: 'out' };
    },
    isNever: (path) => path.length <= LONGEST_JUDGED_PATH && never.find(path) !== undefined,
    staticDenyDirectories: (role) => staticDenyDirectories(policy.roles.get(role)),
  };
}

/** Longer paths are nobody's: it bounds what a path that an agent made up can cost the matcher. */
const LONGEST_JUDGED_PATH = 1024;

const GENERATED_BY_ATTRIBUTE: Verdict = {
  decision: 'generated',
  rule: 'linguist-generated',
  origin: '.gitattributes of the base tree',
};

function compileRole(boundary: Boundary, foldCase: boolean): (operation: Operation, path: RepoPath) => Verdict {
  const deny = ruleList(boundary.deny, foldCase);
  const notDeny = ruleList(boundary.notDeny, false);
  const ask = ruleList(boundary.ask, foldCase);
  const write = ruleList(boundary.write, false);
  const notWrite = ruleList(boundary.notWrite, foldCase);
  const createOnly = ruleList(boundary.createOnly, foldCase);
  return (operation, path) => {
    const denied = deny.find(path);
    if (denied && !notDeny.find(path)) return verdict('deny', denied);
    const asked = ask.find(path);
    if (asked) return askVerdict(asked, path);
    const written = write.find(path);
    if (!written || notWrite.find(path)) return { decision: 'out' };
    const once = operation === 'create' ? undefined : createOnly.find(path);
    if (!once) return verdict('write', written);
    return boundary.createOnlyElse === 'ask' ? askVerdict(once, path) : verdict('deny', once);
  };
}

interface RuleList {
  find(path: string): Rule | undefined;
}

function ruleList(rules: readonly Rule[], foldCase: boolean): RuleList {
  const globs: GlobList = compileGlobs(
    rules.map((rule) => rule.glob),
    { foldCase },
  );
  return {
    find(path) {
      const index = globs.firstMatch(path);
      return index === undefined ? undefined : rules[index];
    },
  };
}

function askVerdict(rule: Rule, path: RepoPath): Verdict {
  return { ...verdict('ask', rule), askClass: askClassOf(path) };
}

function verdict(decision: Exclude<Decision, 'out'>, rule: Rule): Verdict {
  return { decision, rule: rule.glob, origin: rule.origin };
}
