import type { Operation } from '../../domain/decision.ts';
import { OrchestratorError } from '../../domain/errors.ts';
import { escapeForDisplay } from '../../domain/escape.ts';
import type { RoleName } from '../../domain/ids.ts';
import { normalizeRepoPath, type RepoPath } from '../../domain/path.ts';
import type { Decider } from '../../policy/policy.ts';
import { type Judge, judgeByCheckout, judgeByProfile } from './judge-by.ts';
import { pathsOfStdin } from './path-input.ts';
import type { PolicyIo } from './policy-io.ts';
import { alignColumns } from './table.ts';

export interface ExplainOptions {
  readonly paths: readonly string[];
  readonly stdin: boolean;
  readonly role?: string;
  readonly operation?: string;
  readonly profile?: string;
  /** A JSON file, merged over the profile's list variables. */
  readonly vars?: string;
  readonly json: boolean;
  readonly variables: ReadonlyMap<string, string>;
}

export interface Explained {
  readonly path: string;
  /** Null when no repository path is meant; then every role is `out`. */
  readonly canonical: string | null;
  readonly operation: Operation;
  readonly decisions: readonly {
    readonly role: string;
    readonly decision: string;
    readonly rule: string | null;
    readonly origin: string | null;
    readonly class?: string;
  }[];
  /** The command that makes this generated file, where the policy names one. */
  readonly generator?: string;
}

/** `policy explain`: the enforcer's own answer for each path, and the rule behind it. */
export async function runPolicyExplain(options: ExplainOptions, io: PolicyIo): Promise<number> {
  if (options.vars !== undefined && options.profile === undefined) {
    throw new OrchestratorError(
      'usage',
      '--vars is for --profile: a repository has its variables in policies/global.yaml',
    );
  }
  const operation = readOperation(options.operation);
  const paths = [...options.paths, ...(options.stdin ? await pathsOfStdin(io) : [])];
  // A list on standard input may be empty: `git diff --name-only` of a clean tree is.
  if (paths.length === 0 && !options.stdin) {
    throw new OrchestratorError('usage', 'no path was given: name some, or use --stdin');
  }
  const canonical = paths.map((path) => normalizeRepoPath(path));
  const known = canonical.filter((path) => path !== undefined);
  const judge =
    options.profile === undefined
      ? await judgeByCheckout(io, known, options.variables)
      : await judgeByProfile(io, options.profile, options.vars);
  const roles = chooseRoles(judge, options.role);
  const { generatorOf } = await import('../../policy/generators.ts');
  const explained = paths.map((path, index) => {
    const answer = explain({ path, canonical: canonical[index], operation, roles, judge });
    const isGenerated = answer.decisions.some((one) => one.decision === 'generated');
    const generator = isGenerated ? generatorOf(judge.generators, answer.canonical ?? '') : undefined;
    return generator === undefined ? answer : { ...answer, generator: generator.command };
  });
  io.stdout(options.json ? `${JSON.stringify(explained, undefined, 2)}\n` : tableOf(explained));
  return 0;
}

function readOperation(written: string | undefined): Operation | undefined {
  if (written === undefined || written === 'create' || written === 'modify' || written === 'delete') return written;
  throw new OrchestratorError('usage', `--operation ${written}: expected create, modify or delete`);
}

function chooseRoles(judge: Judge, wanted: string | undefined): readonly RoleName[] {
  if (wanted === undefined) return judge.roles;
  const role = judge.resolve(wanted);
  if (role !== undefined) return [role];
  throw new OrchestratorError('usage', `there is no role ${wanted}; roles: ${judge.roles.join(', ')}`);
}

function explain(input: {
  readonly path: string;
  readonly canonical: RepoPath | undefined;
  readonly operation: Operation | undefined;
  readonly roles: readonly RoleName[];
  readonly judge: Judge;
}): Explained {
  const { path, canonical, roles, judge } = input;
  const operation = input.operation ?? (canonical !== undefined && judge.exists(canonical) ? 'modify' : 'create');
  return {
    path,
    canonical: canonical ?? null,
    operation,
    decisions: roles.map((role) => decisionOf(judge.decider, role, operation, canonical)),
  };
}

function decisionOf(
  decider: Decider,
  role: RoleName,
  operation: Operation,
  path: RepoPath | undefined,
): Explained['decisions'][number] {
  if (path === undefined) return { role, decision: 'out', rule: null, origin: 'not a path inside the repository' };
  const { decision, rule, origin, askClass } = decider.decide(role, operation, path);
  return { role, decision, rule: rule ?? null, origin: origin ?? null, ...(askClass ? { class: askClass } : {}) };
}

function tableOf(explained: readonly Explained[]): string {
  return alignColumns(explained.flatMap(rowsOf));
}

function rowsOf({ path, operation, decisions, generator }: Explained): readonly (readonly string[])[] {
  const [first] = decisions;
  const isSame = decisions.every((one) => ANSWER.every((field) => one[field] === first?.[field]));
  const shown = first !== undefined && isSame && decisions.length > 1 ? [{ ...first, role: 'every role' }] : decisions;
  return shown.map(({ role, decision, rule, origin, class: askClass }, index) => [
    index === 0 ? escapeForDisplay(path) : '',
    index === 0 ? operation : '',
    role,
    askClass === undefined ? decision : `${decision} (${askClass})`,
    rule === null ? '' : escapeForDisplay(rule),
    `${escapeForDisplay(origin ?? '')}${generator === undefined ? '' : `, made by \`${escapeForDisplay(generator)}\``}`,
  ]);
}

const ANSWER = ['decision', 'rule', 'origin', 'class'] as const;
