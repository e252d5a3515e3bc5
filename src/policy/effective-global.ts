import type { RoleName } from '../domain/ids.ts';
import { normalizeBaseUrl } from './base-url.ts';
import { expandGenerators } from './generators.ts';
import type { Layered } from './layers.ts';
import { type ListVariables, withDerivedVariables } from './list-variables.ts';
import type { GlobalPolicy, Problem, Rule } from './policy.ts';
import { readRules } from './rules.ts';
import type { GlobalFile } from './schema.ts';

/** A parsed global.yaml as the policy that the daemon uses; the variables include the derived ones. */
export function effectiveGlobal(
  file: GlobalFile,
  layered: Layered,
): { readonly global: GlobalPolicy; readonly problems: readonly Problem[] } {
  const problems: Problem[] = [];
  const { inventory, ...lists } = file.vars;
  const vars: ListVariables = { ...NO_VARIABLES, ...lists };
  const variables = withDerivedVariables(vars);
  problems.push(...variableNameProblems(lists, layered));
  const rules = (globs: readonly string[], path: readonly string[]): readonly Rule[] => {
    const read = readRules(globs, path, layered, variables);
    problems.push(...read.problems);
    return read.rules;
  };
  const outputs = file.generated.sources.map((source) => source.output);
  problems.push(...readRules(outputs, ['generated', 'sources'], layered, variables).problems);
  const baseUrl = readBaseUrl(file, layered);
  problems.push(...baseUrl.problems);
  const { retry } = file.gateway;
  const global: GlobalPolicy = {
    profile: file.profile,
    vars: variables,
    inventory,
    gateway: {
      baseUrl: baseUrl.url,
      pathStyle: file.gateway.path_style,
      retry: {
        maxAttempts: retry.max_attempts,
        backoff: retry.backoff,
        jitter: retry.jitter,
        respectRetryAfter: retry.respect_retry_after,
      },
      requestTimeoutMs: file.gateway.request_timeout,
      maxInFlightPerKey: file.gateway.max_in_flight_per_key,
    },
    workspace: file.workspace,
    sandbox: { mode: file.sandbox.mode, readOnly: file.sandbox.read_only },
    pipeline: file.pipeline as RoleName[],
    limits: {
      runTokens: file.limits.run_tokens,
      dayTokens: file.limits.day_tokens,
      runWallClockMs: file.limits.run_wall_clock,
      commits: file.limits.commits,
      netLines: file.limits.net_lines,
      reviewRounds: file.limits.review_rounds,
    },
    checkpoints: file.checkpoints,
    never: rules(file.never, ['never']),
    generated: {
      fromGitattributes: file.generated.from_gitattributes,
      globs: rules(file.generated.globs, ['generated', 'globs']),
      sources: expandGenerators(file.generated.sources, variables),
    },
    verify: {
      environment: file.verify.environment ?? undefined,
      quick: file.verify.quick ?? undefined,
      full: file.verify.full ?? undefined,
    },
    allowSharedKey: file.allow_shared_key,
    approvalPassphrase: file.approval.passphrase,
  };
  return { global, problems };
}

/** The variables that the shipped profiles use; absent means none. */
const NO_VARIABLES: ListVariables = {
  code: [],
  mods: [],
  tests: [],
  proj: [],
  other: [],
  not_tests: [],
  generated: [],
  vendored: [],
};

function readBaseUrl(
  file: GlobalFile,
  layered: Layered,
): { readonly url: string | undefined; readonly problems: readonly Problem[] } {
  const written = file.gateway.base_url;
  if (written === undefined) return { url: undefined, problems: [] };
  const place = layered.placeOf(['gateway', 'base_url']);
  const result = normalizeBaseUrl(written, file.gateway.path_style);
  if (!result.ok) {
    return {
      url: undefined,
      problems: [{ severity: 'error', ...place, message: `\`gateway.base_url\` ${result.problem}` }],
    };
  }
  if (result.note === undefined) return { url: result.url, problems: [] };
  return { url: result.url, problems: [{ severity: 'warning', ...place, message: result.note }] };
}

function variableNameProblems(lists: Readonly<Record<string, unknown>>, layered: Layered): readonly Problem[] {
  return Object.keys(lists)
    .filter((name) => !/^[a-z][a-z0-9_]*$/u.test(name))
    .map((name) => ({
      severity: 'error' as const,
      ...layered.placeOfKey(['vars', name]),
      message: `variable name \`${name}\` must be small letters, digits and \`_\``,
    }));
}
