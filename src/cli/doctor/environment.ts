import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Check, found } from '../../domain/check.ts';
import type { Io } from '../io.ts';

/** Proxies and the settings of other tools, which people expect to count here and which do not. Values are never told. */
export async function environmentChecks(io: Pick<Io, 'env' | 'home'>): Promise<readonly Check[]> {
  const names = Object.keys(io.env)
    .filter((name) => (io.env[name] ?? '') !== '')
    .sort();
  const insecure = io.env['NODE_TLS_REJECT_UNAUTHORIZED'] === '0' ? [INSECURE] : [];
  return [...proxyChecks(names), ...vendorChecks(names), ...insecure, ...settingsChecks(await settingsNames(io.home))];
}

function proxyChecks(names: readonly string[]): readonly Check[] {
  const proxies = names.filter((name) => /^(https?|all)_proxy$/i.test(name));
  if (proxies.length === 0) return [];
  return [
    found('proxy', {
      level: 'warning',
      symptom: `${proxies.join(', ')} in the environment`,
      cause: 'the gateway connects to the model endpoint directly and does not use a proxy',
      remedy: 'if the endpoint can be reached through the proxy only, name a reverse proxy for it in ORCH_BASE_URL',
    }),
  ];
}

/** Field case B28: a variable of the parent beats the own setting, and the wrong account is billed. */
function vendorChecks(names: readonly string[]): readonly Check[] {
  const vendors = names.filter((name) => VENDOR.test(name));
  if (vendors.length === 0) return [];
  return [
    found('environment', {
      level: 'warning',
      symptom: `set for other clients: ${vendors.join(', ')}`,
      cause: 'agents get an environment of their own and see none of them; keys and base URL come from .env',
      remedy: 'nothing has to be done; unset them if you expected them to count',
    }),
  ];
}

const VENDOR = /^(ANTHROPIC_|OPENAI_|CLAUDE_CODE_|CLAUDE_CONFIG_DIR$|CODEX_)/;

const INSECURE = found('environment', {
  level: 'warning',
  symptom: 'NODE_TLS_REJECT_UNAUTHORIZED is 0',
  cause: 'certificates are not checked, so that anybody on the way can read the keys',
  remedy: 'unset it; a certificate authority of your own goes into NODE_EXTRA_CA_CERTS',
});

/** Field case B35: the user's settings of a client carry variables that would win over the shell's. */
async function settingsNames(home: string): Promise<readonly string[]> {
  const text = await readFile(join(home, '.claude', 'settings.json'), 'utf8').catch(() => '');
  try {
    const env: unknown = (JSON.parse(text) as { env?: unknown }).env;
    return typeof env === 'object' && env !== null ? Object.keys(env).filter((name) => VENDOR.test(name)) : [];
  } catch {
    return [];
  }
}

function settingsChecks(names: readonly string[]): readonly Check[] {
  if (names.length === 0) return [];
  return [
    found('environment', {
      level: 'warning',
      symptom: `~/.claude/settings.json sets ${names.join(', ')}`,
      cause: 'agents have a configuration directory of their own and do not read that file',
      remedy: 'nothing has to be done; it counts for your own sessions only',
    }),
  ];
}
