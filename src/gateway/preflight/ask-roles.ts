import { type Check, found, passed } from '../../domain/check.ts';
import type { Clock } from '../../domain/ids.ts';
import { keyProblems } from '../../policy/key-shape.ts';
import type { PolicySet, RolePolicy } from '../../policy/policy.ts';
import { readRoleKey } from '../../policy/role-key.ts';
import { dayScopes } from '../day-scopes.ts';
import type { Payer } from '../gateway.ts';
import type { Question } from './ask-endpoint.ts';
import { clockChecks, skewOf } from './clock-check.ts';
import { explainFindings } from './explain.ts';
import { explainNotAsked } from './not-asked.ts';
import type { Preflight } from './preflight.ts';

export interface RolesQuestion {
  readonly set: Pick<PolicySet, 'global'>;
  readonly roles: readonly RolePolicy[];
  readonly variables: ReadonlyMap<string, string>;
  readonly clock: Clock;
}

/**
 * One minimal request for each role that is complete (base URL, model, sound key); what is missing is told elsewhere.
 * The endpoint's own clock comes along with its answers.
 */
export async function askRoles(
  preflight: Preflight,
  question: RolesQuestion,
  signal: AbortSignal,
): Promise<readonly Check[]> {
  const asked = await Promise.all(question.roles.map((policy) => askRole(preflight, { ...question, policy }, signal)));
  return [...asked.flatMap((one) => one?.check ?? []), ...clockChecks(asked.flatMap((one) => one?.skewMs ?? []))];
}

async function askRole(
  preflight: Preflight,
  given: RolesQuestion & { policy: RolePolicy },
  signal: AbortSignal,
): Promise<{ readonly check: Check; readonly skewMs: number | undefined } | undefined> {
  const { policy, clock } = given;
  const question = questionFor(given);
  if (question === undefined) return undefined;
  const outcome = await preflight.ask(payerOf(given, question), question, signal);
  const name = `model ${policy.role}`;
  if (outcome.kind !== 'asked') return { check: found(name, explainNotAsked(outcome, policy)), skewMs: undefined };
  const [first] = outcome.findings.exchanges;
  const finding = explainFindings(outcome.findings, { ...question, policy });
  const works = passed(name, `${question.model} answers at ${first.url.origin}${first.url.pathname}`);
  return { check: finding === undefined ? works : found(name, finding), skewMs: skewOf(first, clock.now()) };
}

/** Undefined when something is missing. */
function questionFor({ set, policy, variables }: RolesQuestion & { policy: RolePolicy }): Question | undefined {
  const { baseUrl, pathStyle, requestTimeoutMs } = set.global.gateway;
  const { id: model, protocol } = policy.model;
  const read = readRoleKey(policy, variables);
  if (baseUrl === undefined || model === undefined || !('key' in read)) return undefined;
  if (keyProblems(read.key).length > 0) return undefined;
  const timeoutMs = Math.min(requestTimeoutMs, LONGEST_WAIT_MS);
  return { endpoint: { baseUrl, pathStyle }, protocol, model, key: read.key, timeoutMs };
}

/** A cold model may take a while; a person waits in front of it. */
const LONGEST_WAIT_MS = 60_000;

function payerOf({ set, policy }: RolesQuestion & { policy: RolePolicy }, question: Question): Payer {
  const { protocol, model, key } = question;
  const dayTokens = set.global.limits.dayTokens;
  const scopes = (day: string) => dayScopes({ policy, dayTokens, day });
  return { role: policy.role, protocol, model, key, cacheReadWeight: policy.budget.cacheReadWeight, scopes };
}
