import { OrchestratorError } from '../../../domain/errors.ts';
import type { Assignment } from '../../runner.ts';
import type { Model, ModelSettings } from './model.ts';

/** The gateway's own timeouts and retries come first; this one only ends a call that nobody answers any more. */
const CALL_TIMEOUT_MS = 15 * 60_000;

/**
 * The adapter for the role's protocol; throws `configuration` when the built-in agent can't work with the policy. The
 * SDKs are loaded when they are needed: both together are half of what the daemon would load to start.
 */
export async function chooseModel({ policy, gateway, role, history }: Assignment): Promise<Model> {
  const { id, protocol, temperature, maxOutputTokens } = policy.model;
  if (id === undefined) {
    throw new OrchestratorError('configuration', `Role ${role} has no model id: set model.id in its policy`);
  }
  const other = history.find((turn) => turn.protocol !== protocol);
  if (other !== undefined) {
    throw new OrchestratorError(
      'configuration',
      `Role ${role} began this attempt over ${other.protocol} and can't go on over ${protocol}: retry the task, or set model.protocol back`,
    );
  }
  const { url, key } = gateway;
  const settings: ModelSettings = { url, key, id, role, temperature, maxOutputTokens, timeoutMs: CALL_TIMEOUT_MS };
  switch (protocol) {
    case 'anthropic':
      return (await import('./anthropic.ts')).anthropicModel(settings);
    case 'openai-chat':
      return (await import('./openai-chat.ts')).openaiChatModel(settings);
    case 'openai-responses':
      throw new OrchestratorError(
        'configuration',
        `Role ${role}: the built-in agent speaks anthropic and openai-chat, not openai-responses; change model.protocol, or use runner: codex`,
      );
  }
}
