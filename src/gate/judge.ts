import { contentKey } from '../checkpoints/grants.ts';
import type { Change, Decision } from '../domain/decision.ts';
import type { RepoPath } from '../domain/path.ts';
import type { JudgedChange } from '../policy/policy.ts';
import type { GatePath, GateVerdict, Grant, StepCommit } from './gate.ts';
import { nameProblems } from './names.ts';

export interface JudgedStep {
  readonly step: StepCommit;
  /** diff(step's parent → its commit), judged for the step's role. */
  readonly judged: readonly JudgedChange[];
}

export type Refusal = GatePath & { readonly reason: string };

/**
 * Pure: whether a merge result may reach the target.
 *
 * Every step's own diff must be inside its role's boundary or covered by a grant, also where a later step put the path
 * back. Every path of diff(target → result) must be one that a step accounts for: a merge can move a change to a path
 * that nobody wrote (a rename on the target's side). A path that only content grants allow must arrive with exactly
 * the granted content.
 */
export function judgeMerge(input: {
  stepChanges: readonly JudgedStep[];
  resultChanges: readonly Change[];
  grants: readonly Grant[];
  /** All paths of the result tree. */
  resultPaths: readonly RepoPath[];
}): GateVerdict {
  const outcomes = input.stepChanges.flatMap(({ step, judged }) =>
    judged.map((change) => judgeStepChange(step, change, input.grants)),
  );
  const allowed = allowedContents(outcomes);
  const introduced = new Set(
    input.resultChanges.filter((change) => change.operation === 'create').map((change) => change.path),
  );
  const refusals: Refusal[] = [
    ...outcomes.flatMap((outcome) =>
      outcome.reason === undefined ? [] : [{ ...outcome.gatePath, reason: outcome.reason }],
    ),
    ...input.resultChanges.flatMap((change) => judgeResultChange(change, allowed.get(change.path))),
    ...nameProblems(input.resultPaths, introduced).map(({ path, special, reason }) =>
      structural(special, reason, path),
    ),
  ];
  if (refusals.length > 0) return { accepted: false, refusals };
  const paths = strictestPerStep(outcomes.map((outcome) => outcome.gatePath));
  return { accepted: true, paths, asks: paths.filter(neededConsent) };
}

/** What the merge's approval consents to: only a human let it pass. */
function neededConsent(path: GatePath): boolean {
  return path.decision !== 'write' || path.special !== undefined;
}

/** A refusal by the shape of the result rather than by a glob. */
export function structural(special: string, reason: string, path: RepoPath): Refusal {
  return {
    path,
    decision: 'out',
    rule: undefined,
    askClass: undefined,
    task: undefined,
    role: undefined,
    special,
    reason,
  };
}

interface StepOutcome {
  readonly gatePath: GatePath;
  readonly change: JudgedChange;
  /** Why it is refused; undefined when it is accepted. */
  readonly reason: string | undefined;
  /** `any`: the path may hold whatever steps and clean merges made of it. `granted`: only this content was allowed. */
  readonly covers: 'any' | 'granted';
}

function judgeStepChange(step: StepCommit, change: JudgedChange, grants: readonly Grant[]): StepOutcome {
  const own = grants.filter((grant) => grant.task === step.task && grant.path === change.path);
  const access = own.some((grant) => grant.kind === 'access');
  const content = own.some((grant) => grant.kind === 'content' && grant.blob === contentKey(change));
  const gatePath: GatePath = {
    path: change.path,
    decision: change.decision,
    rule: change.rule,
    askClass: change.askClass,
    task: step.task,
    role: step.role,
    special: change.special,
  };
  const { covers, reason } = rulingFor(change, { access, content });
  return { gatePath, change, reason, covers };
}

interface Ruling {
  readonly covers: 'any' | 'granted';
  readonly reason: string | undefined;
}

function rulingFor(change: JudgedChange, granted: { access: boolean; content: boolean }): Ruling {
  const onlyGranted = (why: string): Ruling => ({ covers: 'granted', reason: granted.content ? undefined : why });
  switch (change.decision) {
    case 'never':
      return { covers: 'granted', reason: 'nobody may write this path' };
    case 'generated':
      return { covers: 'granted', reason: 'only its generator writes this path' };
    case 'deny':
    case 'out':
    case 'ask':
    case 'write':
      break;
  }
  if (change.special !== undefined) return onlyGranted(`${change.special} was not approved`);
  switch (change.decision) {
    case 'deny':
      return onlyGranted('the role is denied this path and its content was not approved');
    case 'out':
      return onlyGranted("the path is outside the role's boundary and its content was not approved");
    case 'ask':
      if (change.askClass === 'text' || granted.access) return ANYTHING;
      return onlyGranted('the path needs an approval that was not given');
    case 'write':
      return ANYTHING;
  }
}

const ANYTHING: Ruling = { covers: 'any', reason: undefined };

/** What each path that a step changed may hold in the result. A refused path is refused already, so anything. */
function allowedContents(outcomes: readonly StepOutcome[]): ReadonlyMap<RepoPath, 'any' | ReadonlySet<string>> {
  const allowed = new Map<RepoPath, 'any' | Set<string>>();
  for (const { change, covers, reason } of outcomes) {
    const known = allowed.get(change.path);
    if (covers === 'any' || known === 'any' || reason !== undefined) allowed.set(change.path, 'any');
    else if (known === undefined) allowed.set(change.path, new Set([contentKey(change)]));
    else known.add(contentKey(change));
  }
  return allowed;
}

function judgeResultChange(change: Change, allowed: 'any' | ReadonlySet<string> | undefined): Refusal[] {
  const { path } = change;
  if (allowed === undefined) {
    return [structural('unexpected-path', 'the merge changes this path, but no step accounts for it', path)];
  }
  const isGranted = allowed !== 'any' && allowed.has(contentKey(change));
  if (change.operation !== 'delete' && !ORDINARY_MODES.has(change.newMode) && !isGranted) {
    return [structural('bad-mode', `mode ${change.newMode} was not approved`, path)];
  }
  if (allowed !== 'any' && !isGranted) {
    return [structural('other-content', 'what would be merged is not the content that was approved', path)];
  }
  return [];
}

/** File, executable, symlink (whose target was judged with its step). */
const ORDINARY_MODES: ReadonlySet<string> = new Set(['100644', '100755', '120000']);

const STRICTNESS = { never: 0, generated: 1, deny: 2, out: 3, ask: 4, write: 5 } as const satisfies Record<
  Decision,
  number
>;

/** One entry for each path and step, the strictest decision when attempts differ. */
function strictestPerStep(paths: readonly GatePath[]): readonly GatePath[] {
  const strictest = new Map<string, GatePath>();
  for (const path of paths) {
    const key = JSON.stringify([path.path, path.task, path.role]);
    const known = strictest.get(key);
    if (known === undefined || STRICTNESS[path.decision] < STRICTNESS[known.decision]) strictest.set(key, path);
  }
  return [...strictest.values()];
}
