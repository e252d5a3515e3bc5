import { OrchestratorError } from '../domain/errors.ts';
import type { RandomText } from '../domain/ids.ts';
import type { Decider } from '../policy/policy.ts';
import type { Gate, MergeCandidate } from './gate.ts';
import { judgeCandidate } from './judge-candidate.ts';
import { moveTarget } from './move.ts';
import { recoverIntents, type SettleParts } from './settle.ts';

export interface GateParts extends SettleParts {
  readonly random: RandomText;
  /** The decider of the candidate's pinned policy and base tree. */
  readonly deciderFor: (candidate: MergeCandidate) => Decider | Promise<Decider>;
}

export function openGate(parts: GateParts): Gate {
  const judge = async (candidate: MergeCandidate) =>
    judgeCandidate(parts.git, await parts.deciderFor(candidate), candidate);
  return {
    judge,
    async move(candidate, approval) {
      const verdict = await judge(candidate);
      if (!verdict.accepted) throw refusedByJudge(candidate, verdict.refusals);
      return moveTarget(parts, candidate, approval);
    },
    recover: () => recoverIntents(parts),
  };
}

function refusedByJudge(
  candidate: MergeCandidate,
  refusals: readonly { path: string; reason: string }[],
): OrchestratorError {
  return new OrchestratorError(
    'refused',
    `the gate refused ${candidate.run}: ${refusals.length} reason(s); ${candidate.target} was not moved.`,
    { details: refusals.map(({ path, reason }) => (path === '' ? reason : `${path}: ${reason}`)) },
  );
}
