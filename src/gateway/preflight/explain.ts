import type { Finding } from '../../domain/check.ts';
import type { RolePolicy } from '../../policy/policy.ts';
import { redact } from '../redact.ts';
import type { Asked, Findings } from './ask-endpoint.ts';
import { answered, shown, statusText } from './exchange-text.ts';
import { describeConnection, describeRefusal } from './explain-refusal.ts';
import type { Exchange } from './minimal-request.ts';

/** What a failed minimal request means, in words; undefined when it worked. No key is in it beyond its tail. */
export function explainFindings(findings: Findings, asked: Asked): Finding | undefined {
  const finding = describe(findings, asked);
  if (finding === undefined) return undefined;
  const clean = (text: string) => redact(text, [asked.key]);
  const { level, symptom, cause, remedy } = finding;
  return { level, symptom: clean(symptom), cause: clean(cause), remedy: clean(remedy) };
}

function describe(findings: Findings, asked: Asked): Finding | undefined {
  const { diagnosis } = findings;
  switch (diagnosis.kind) {
    case 'works':
      return undefined;
    case 'dns':
    case 'refused':
    case 'tls':
    case 'unreachable':
    case 'broken':
    case 'timeout':
    case 'aborted':
      return describeConnection(diagnosis.kind, findings, asked);
    case 'key':
    case 'forbidden':
    case 'money':
    case 'rate':
    case 'server':
    case 'request':
      return describeRefusal(diagnosis.kind, findings, asked);
    case 'model':
      return describeModel(findings, asked);
    case 'path':
    case 'redirect':
    case 'html':
      return describePlace(findings, asked);
    case 'empty':
    case 'stream':
    case 'unreadable':
    case 'other-protocol':
      return describeShape(findings, asked);
  }
}

function describeModel({ exchanges, models }: Findings, { policy, model }: Asked): Finding {
  const shownModels = nearestFirst(models, model).slice(0, MAX_MODELS).join(', ');
  const more = models.length > MAX_MODELS ? ` and ${models.length - MAX_MODELS} more` : '';
  const known = models.length === 0 ? 'the endpoint gives no list of its models' : `it has ${shownModels}${more}`;
  return {
    level: 'error',
    symptom: answered(exchanges[0]),
    cause: `the endpoint does not know the model ${model}; ${known}`,
    remedy: `set ORCH_MODEL_${suffixOf(policy.role)} in .env, or model.id in policies/roles/${policy.role}.yaml, to one that it has`,
  };
}

function describePlace({ diagnosis, exchanges, works }: Findings, { policy }: Asked): Finding {
  const [first, ...tried] = exchanges;
  const symptom = answered(first);
  if (diagnosis.kind === 'redirect') {
    const cause = `${shown(first.url)} sends elsewhere${diagnosis.location === '' ? '' : `: ${diagnosis.location}`}, and a key does not follow a redirect`;
    return { level: 'error', symptom, cause, remedy: 'set ORCH_BASE_URL to where the endpoint really is' };
  }
  const what = diagnosis.kind === 'html' ? 'a web page is served at' : 'nothing is served at';
  const others = tried.map(({ url, result }) => `${shown(url)} (${statusText(result)})`).join(' and ');
  const cause = `${what} ${shown(first.url)}${others === '' ? '' : `; also tried: ${others}`}`;
  return { level: 'error', symptom, cause, remedy: remedyForPlace(works, policy) };
}

function remedyForPlace(works: Findings['works'], policy: RolePolicy): string {
  if (works === undefined) return 'set ORCH_BASE_URL to the root under which the provider documents its API';
  return 'protocol' in works ? protocolRemedy(policy, works.protocol) : `set ${works.setting} in policies/global.yaml`;
}

function describeShape({ diagnosis, exchanges }: Findings, { policy }: Asked): Finding {
  const [exchange] = exchanges;
  const symptom = answered(exchange);
  const asked = `on the ${PATH_NAMES[exchange.protocol]} path`;
  if (diagnosis.kind === 'other-protocol') {
    const cause = `it answers in the shape of ${SHAPE_NAMES[diagnosis.actual]} ${asked}`;
    return { level: 'error', symptom, cause, remedy: protocolRemedy(policy, diagnosis.actual) };
  }
  const cause =
    diagnosis.kind === 'stream'
      ? `it streams ${asked} although no stream was asked for`
      : `what it answers ${asked} is no answer of this protocol`;
  const remedy = `check ORCH_BASE_URL and the protocol of role ${policy.role} (${policy.model.protocol}) against the provider's documentation`;
  return { level: 'error', symptom, cause, remedy };
}

function protocolRemedy({ role }: RolePolicy, protocol: Exchange['protocol']): string {
  return `set protocol: ${protocol} (ORCH_PROTOCOL_${suffixOf(role)}=${protocol} in .env, or model.protocol in policies/roles/${role}.yaml)`;
}

const SHAPE_NAMES = {
  anthropic: 'messages',
  'openai-chat': 'chat completions',
  'openai-responses': 'responses',
} as const satisfies Record<Exchange['protocol'], string>;
const PATH_NAMES = SHAPE_NAMES;
const MAX_MODELS = 10;

function suffixOf(role: string): string {
  return role.toUpperCase().replaceAll('-', '_');
}

/** Ids that share the longest beginning with what was asked for come first. */
function nearestFirst(models: readonly string[], model: string): readonly string[] {
  const shared = (id: string) => [...id].findIndex((char, index) => char !== model[index]);
  const rank = (id: string) => (shared(id) === -1 ? id.length : shared(id));
  return [...models].sort((left, right) => rank(right) - rank(left));
}
