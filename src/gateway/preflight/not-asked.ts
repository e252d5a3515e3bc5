import type { Finding } from '../../domain/check.ts';
import type { RolePolicy } from '../../policy/policy.ts';
import type { PreflightOutcome } from './preflight.ts';

/** Why a role's model could not be asked, though everything for it is there. */
export function explainNotAsked(outcome: Exclude<PreflightOutcome, { kind: 'asked' }>, { role }: RolePolicy): Finding {
  const symptom = `role ${role} was not asked`;
  switch (outcome.kind) {
    case 'refused': {
      const { label, used, held, limit } = outcome.refusal;
      return {
        level: 'warning',
        symptom,
        cause: `the budget of ${label} has ${used} used and ${held} reserved of ${limit} work tokens`,
        remedy: `wait for the next day, or raise budget.day in policies/roles/${role}.yaml or limits.day_tokens in policies/global.yaml`,
      };
    }
    case 'busy': {
      const cause = 'other calls hold its budget or its key';
      return { level: 'warning', symptom, cause, remedy: 'run `orchestrator doctor` again when the agents are quiet' };
    }
    case 'no-ledger': {
      const cause = `the ledger cannot be written (${outcome.reason}), and nothing is sent that is not recorded`;
      return { level: 'error', symptom, cause, remedy: 'check the disk space and the mode of the state directory' };
    }
  }
}
