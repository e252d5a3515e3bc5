/**
 * A tool call whose arguments can't be used stays a call of its turn, so that the model is told. Its input then holds
 * this one field with the reason; the field travels with the persisted turn.
 */
const UNUSABLE = 'orchestrator_unusable_arguments';

/** Arguments as the model wrote them; anything but a JSON object is unusable. */
export function parseArguments(text: string): Record<string, unknown> {
  if (text.trim() === '') return {};
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>;
    return unusable(`The arguments have to be a JSON object. They were: ${excerpt(text)}`);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return unusable(`The arguments are no valid JSON (${reason}). They began with: ${excerpt(text)}`);
  }
}

/** A call that was the last thing written when the output cap was reached may lack its end. */
export function cutByCap(maxOutputTokens: number): Record<string, unknown> {
  return unusable(
    `Your answer was cut at the output limit of ${maxOutputTokens} tokens, so this call may be incomplete. It was not executed. Do the same in smaller parts.`,
  );
}

/** Why a call can't be executed; undefined for a usable input. */
export function unusableReason(input: unknown): string | undefined {
  if (typeof input !== 'object' || input === null || !(UNUSABLE in input)) return undefined;
  return String(input[UNUSABLE]);
}

function unusable(reason: string): Record<string, unknown> {
  return { [UNUSABLE]: reason };
}

function excerpt(text: string): string {
  return text.length <= 200 ? text : `${text.slice(0, 200)}…`;
}
