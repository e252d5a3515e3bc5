import { type Check, found } from '../../domain/check.ts';
import { messageOf, OrchestratorError } from '../../domain/errors.ts';

/** A look that fails for a reason of its own is a finding, not the end of the examination. */
export async function guard(name: string, look: () => Promise<readonly Check[]>): Promise<readonly Check[]> {
  try {
    return await look();
  } catch (error) {
    if (error instanceof OrchestratorError && (error.code === 'usage' || error.code === 'interrupted')) throw error;
    const details = error instanceof OrchestratorError ? error.details.join('; ') : '';
    return [
      found(name, {
        level: 'error',
        symptom: messageOf(error),
        cause: details === '' ? 'it could not be looked at any further' : details,
        remedy: 'do what the message says, then run `orchestrator doctor` again',
      }),
    ];
  }
}
