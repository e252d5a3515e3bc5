import path from 'node:path';
import { OrchestratorError } from '../domain/errors.ts';
import type { ObjectId } from '../domain/ids.ts';
import type { Run } from '../domain/run.ts';
import type { StoreGit } from '../git/git.ts';
import { loadAgentOverride } from '../policy/agent-override.ts';
import { compileDecider } from '../policy/decide.ts';
import { loadPolicySet } from '../policy/load.ts';
import type { Decider, PolicySet, Problem, RolePolicy } from '../policy/policy.ts';
import { readRoleKey } from '../policy/role-key.ts';
import type { PolicyBook } from './engine.ts';
import { keepPolicyCopy } from './policy-copy.ts';

export interface PolicyBookOptions {
  /** `<checkout>/policies` */
  readonly directory: string;
  /** Where the files of the active policy are kept, out of reach of `git clean`. */
  readonly copy: string;
  readonly runs: string;
  readonly git: StoreGit;
  readonly foldCase: boolean;
  /** Values for `${UPPER}` and keys, read again at every reload. */
  readonly readVariables: () => ReadonlyMap<string, string>;
  /** The `ORCHESTRATOR_*` part of the environment: it wins over the files. */
  readonly environment: ReadonlyMap<string, string>;
}

/** The active policy and the pinned ones of runs. Throws `configuration` with every problem when the files are wrong. */
export function openPolicyBook(options: PolicyBookOptions): PolicyBook {
  let variables = options.readVariables();
  let active = loadOrThrow(options, options.directory, variables);
  keepPolicyCopy(options.directory, options.copy);
  const pinned = new Map<string, PolicySet>();
  const deciders = new Map<string, Promise<Decider>>();
  return {
    active: () => active,
    pinned(run: Run) {
      if (run.manifest.policyDigest === active.digest) return active;
      const known = pinned.get(run.id);
      if (known !== undefined) return known;
      const loaded = loadOrThrow(options, path.join(options.runs, run.id, 'policies'), variables);
      pinned.set(run.id, loaded);
      return loaded;
    },
    forAgent(run, name, policy) {
      const loaded = loadAgentOverride({
        directory: path.join(options.runs, run.id, 'policies'),
        name,
        variables,
        environment: options.environment,
      });
      if (loaded === undefined) return policy;
      if (loaded.ok && loaded.role.role === policy.role) return loaded.role;
      throw new OrchestratorError('configuration', `policies/agents/${name}.yaml can't be used for ${policy.role}`, {
        details: loaded.ok ? [`it names the role ${loaded.role.role}`] : loaded.problems.map(describeProblem),
      });
    },
    decider(set, baseTree) {
      const key = `${set.digest} ${baseTree}`;
      const known = deciders.get(key) ?? makeDecider(options, set, baseTree);
      deciders.set(key, known);
      return known;
    },
    key: (policy) => realKey(policy, variables),
    async reload() {
      const fresh = options.readVariables();
      const loaded = loadOrThrow(options, options.directory, fresh);
      keepPolicyCopy(options.directory, options.copy);
      variables = fresh;
      active = loaded;
      return { digest: loaded.digest, warnings: loaded.warnings.map(describeProblem) };
    },
  };
}

export function describeProblem(problem: Problem): string {
  const advice = problem.suggestion === undefined ? '' : ` (${problem.suggestion})`;
  return `${problem.file}:${problem.line}:${problem.column}: ${problem.message}${advice}`;
}

async function makeDecider(options: PolicyBookOptions, set: PolicySet, baseTree: ObjectId): Promise<Decider> {
  const generated = set.global.generated.fromGitattributes
    ? await options.git.generatedPaths(baseTree)
    : new Set<never>();
  return compileDecider(set, generated, { foldCase: options.foldCase });
}

function loadOrThrow(
  { environment }: PolicyBookOptions,
  directory: string,
  variables: ReadonlyMap<string, string>,
): PolicySet {
  const loaded = loadPolicySet({ directory, variables, environment });
  if (loaded.ok) return loaded.set;
  throw new OrchestratorError(
    'configuration',
    `the policies in ${directory} have ${loaded.problems.length} problems; nothing was changed`,
    {
      details: loaded.problems.map(describeProblem),
    },
  );
}

function realKey(policy: RolePolicy, variables: ReadonlyMap<string, string>): string {
  const read = readRoleKey(policy, variables);
  if ('key' in read) return read.key;
  throw new OrchestratorError('configuration', `role ${policy.role}: ${read.problem}`);
}
