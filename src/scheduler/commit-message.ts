import { escapeForDisplay } from '../domain/escape.ts';
import type { RoleName, RunId, TaskId } from '../domain/ids.ts';
import { oneLine } from '../gate/merge-tasks.ts';

const SUMMARY_SHOWN = 4000;

/** The message of a step's commit. Title and summary come from agents: neither can add a trailer or end the message. */
export function commitMessage(step: {
  readonly run: RunId;
  readonly task: TaskId;
  readonly role: RoleName;
  readonly model: string;
  readonly title: string;
  readonly summary: string;
}): string {
  const title = `${escapeForDisplay(oneLine(step.title))} (${step.role})`;
  const summary = step.summary.trim().slice(0, SUMMARY_SHOWN);
  const trailers = [
    `Agent-Role: ${step.role}`,
    `Agent-Model: ${step.model}`,
    `Orchestrator-Run: ${step.run}`,
    `Orchestrator-Task: ${step.task}`,
  ];
  return `${[title, ...(summary === '' ? [] : [withoutTrailers(summary)]), trailers.join('\n')].join('\n\n')}\n`;
}

/**
 * `git interpret-trailers` reads `Key: value` lines at the end of a message, or before a line of three dashes, and
 * people grep for them anywhere. A blank in front takes that meaning away.
 */
function withoutTrailers(text: string): string {
  return escapeForDisplay(text, { multiline: true })
    .split('\n')
    .map((line) => (/^(---|[A-Za-z0-9-]+[ \t]*:|\(cherry picked from )/.test(line) ? ` ${line}` : line))
    .join('\n');
}
