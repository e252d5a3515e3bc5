import { OrchestratorError } from '../../../domain/errors.ts';
import type { ModelSettings } from './model.ts';

/** Reads one event of a stream; one that has not the protocol's form ends the call with a sentence that says so. */
export function readEvent(settings: ModelSettings, read: () => void): void {
  try {
    read();
  } catch (cause) {
    const message = `The endpoint of the model ${settings.id} sent an event that is not of its protocol; check model.protocol of role ${settings.role} and gateway.base_url`;
    throw new OrchestratorError('failed', message, { cause });
  }
}
