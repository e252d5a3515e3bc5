import type { Finding } from '../../domain/check.ts';
import { keyTail } from '../../policy/env-file.ts';
import type { Asked, Findings } from './ask-endpoint.ts';
import type { Diagnosis } from './classify.ts';
import { answered, shown } from './exchange-text.ts';

type Kind = Diagnosis['kind'];
/** Cause and remedy. */
type Words<Of extends Kind> = Readonly<Record<Of, readonly [cause: string, remedy: string]>>;
type ConnectionKind = Extract<Kind, 'dns' | 'refused' | 'tls' | 'unreachable' | 'broken' | 'timeout' | 'aborted'>;

/** No answer came. */
export function describeConnection(kind: ConnectionKind, { exchanges }: Findings, asked: Asked): Finding {
  const [{ url, result }] = exchanges;
  const detail = 'message' in result ? result.message : '';
  const network = 'check ORCH_BASE_URL (or gateway.base_url) and the network';
  const proxy = 'the gateway connects directly: a proxy in the environment is not used';
  const words: Words<ConnectionKind> = {
    dns: [`the host name ${url.hostname} cannot be resolved (${detail})`, `${network}; ${proxy}`],
    refused: [`nothing listens at ${url.host} (${detail})`, `start the endpoint there, or ${network}`],
    tls: [
      `the TLS handshake with ${url.host} failed (${detail})`,
      'check https:// against http://, the clock, and the certificate; one of your own authority goes into NODE_EXTRA_CA_CERTS',
    ],
    unreachable: [`no connection to ${url.host} came about (${detail})`, `${network}; ${proxy}`],
    broken: [
      `${url.host} closed the connection instead of answering (${detail})`,
      `${network}; check https:// against http://`,
    ],
    timeout: [
      `${url.host} gave no answer within ${asked.timeoutMs / 1000} s`,
      `${network}; a model that has to be loaded first may answer at the second try; ${proxy}`,
    ],
    aborted: ['it was interrupted', 'run `orchestrator doctor` again'],
  };
  const [cause, remedy] = words[kind];
  return { level: 'error', symptom: `${shown(url)} does not answer`, cause, remedy };
}

type RefusalKind = Extract<Kind, 'key' | 'forbidden' | 'money' | 'rate' | 'server' | 'request'>;

/** An answer that says no in the endpoint's own words. */
export function describeRefusal(kind: RefusalKind, { exchanges }: Findings, { policy, model, key }: Asked): Finding {
  const [exchange] = exchanges;
  const where = policy.key.kind === 'env' ? policy.key.name : policy.key.path;
  const named = `the key …${keyTail(key)} of role ${policy.role}`;
  const words: Words<RefusalKind> = {
    key: [
      `the endpoint does not accept ${named}`,
      `put a valid key into ${where}, and check that it belongs to this base URL`,
    ],
    forbidden: [
      `${named} may not use the model ${model}`,
      `allow it at the provider, or set another model or key for role ${policy.role}`,
    ],
    money: [
      `the account of ${named} is out of money or quota`,
      `top it up at the provider, or put another key into ${where}`,
    ],
    rate: [
      'the endpoint limits the rate right now; key and URL are right',
      'wait and try again; fewer workspace.slots or a smaller gateway.max_in_flight_per_key help for good',
    ],
    server: ['the endpoint itself fails', 'try again later; if it stays, ask the provider and show this answer'],
    request: [
      `the endpoint refuses a minimal request to ${model}`,
      `check model.id and model.protocol of role ${policy.role} against the provider's documentation`,
    ],
  };
  const [cause, remedy] = words[kind];
  return { level: kind === 'rate' ? 'warning' : 'error', symptom: answered(exchange), cause, remedy };
}
