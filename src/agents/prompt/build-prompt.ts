import type { PromptInput } from './prompt-input.ts';
import { quoteUntrusted } from './quote.ts';
import { systemPrompt } from './system-prompt.ts';

/**
 * The prompt of a step. The system part depends on role and policy only, so that it can be cached; what belongs to
 * the task follows in the first user message. The lines are advice to the model: the boundary is enforced elsewhere.
 */
export function buildPrompt(input: PromptInput): { readonly system: string; readonly user: string } {
  return { system: systemPrompt(input), user: userPrompt(input) };
}

function userPrompt(input: PromptInput): string {
  const { task } = input;
  const head = [
    ...(task === undefined ? [] : [`Task: ${task.id}`, `Title: ${task.title.replace(/\s+/g, ' ')}`]),
    `Attempt: ${input.attempt}`,
    `Work tokens left: ${input.budgetLeft}`,
  ].join('\n');
  return [
    head,
    ...(task === undefined ? [`The user's request:\n${input.request}`] : taskSections(task, input.request)),
    ...previousSection(input.previous),
    ...reworkSection(input.rework),
    ...(input.notes === undefined || input.notes.trim() === ''
      ? []
      : [`Notes of your role from earlier work:\n${quoteUntrusted(`notes of ${input.role}`, input.notes)}`]),
  ].join('\n\n');
}

function taskSections(task: NonNullable<PromptInput['task']>, request: string): readonly string[] {
  return [
    `Instructions:\n${task.instructions}`,
    ...(task.expectedPaths.length === 0
      ? []
      : [
          `Paths that the plan expects to change (for orientation; your boundary is above): ${task.expectedPaths.join(', ')}`,
        ]),
    ...(task.acceptance === undefined
      ? []
      : [`Acceptance: this command fails now and has to pass when the task is done:\n${task.acceptance}`]),
    `The task is part of this request of the user, for context:\n${request}`,
  ];
}

function previousSection(previous: PromptInput['previous']): readonly string[] {
  if (previous.length === 0) return [];
  const parts = previous.map(({ role, summary }) => quoteUntrusted(`summary of ${role}`, summary));
  return [`What was done for this task before you (it is in your workspace):\n${parts.join('\n')}`];
}

function reworkSection(rework: PromptInput['rework']): readonly string[] {
  if (rework === undefined) return [];
  const findings = rework.findings.map((finding) => `- ${finding.replace(/\s*\n\s*/g, ' ')}`);
  const text = [rework.reason, ...findings].join('\n');
  return [`Changes were asked for. Settle each point, and nothing else:\n${quoteUntrusted('review', text)}`];
}
