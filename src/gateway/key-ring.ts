import { createHash } from 'node:crypto';
import type { AgentId, RandomText } from '../domain/ids.ts';
import type { AgentGrant } from './gateway.ts';

/** Virtual keys and what they stand for. Only hashes are kept, so that no dump of memory's maps gives a key. */
export interface KeyRing {
  issue(grant: AgentGrant): string;
  find(key: string): AgentGrant | undefined;
  forget(agent: AgentId): void;
}

export function createKeyRing(random: RandomText): KeyRing {
  const grants = new Map<string, AgentGrant>();
  return {
    issue(grant) {
      const key = `orch-${random(KEY_LENGTH)}`;
      grants.set(hash(key), grant);
      return key;
    },
    find: (key) => grants.get(hash(key)),
    forget(agent) {
      for (const [key, grant] of grants) if (grant.agent === agent) grants.delete(key);
    },
  };
}

/** 52 characters out of 36 are more than 256 bits. */
const KEY_LENGTH = 52;

function hash(key: string): string {
  return createHash('sha256').update(key).digest('hex');
}
