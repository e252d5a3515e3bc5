import { escapeForDisplay, quoteLines } from '../domain/escape.ts';
import type { TaskId } from '../domain/ids.ts';
import { agentId } from '../domain/ids.ts';
import type { Step } from '../domain/run.ts';
import type { Engine } from './engine.ts';
import type { RunRecord } from './records.ts';

/** A reviewer's verdict with its findings, one a line. */
export function reviewLines({ verdict, findings = [] }: Step): readonly string[] {
  if (verdict === undefined) return [];
  return [
    verdict,
    ...findings.map(({ path, line, severity, text }) => {
      const where = [path, line].filter((part) => part !== undefined).join(':');
      return escapeForDisplay(`${severity}: ${where === '' ? '' : `${where} `}${text}`);
    }),
  ];
}

/** What the roles wrote down for a human while they worked on these tasks, each note once. */
export function noteLines(engine: Engine, record: RunRecord, tasks: readonly TaskId[]): readonly string[] {
  const steps = record.steps.filter((step) => tasks.includes(step.task));
  const lines = steps.flatMap((step) => {
    const notes = engine.store
      .read('events-of-agent', { agent: agentId(step) })
      .filter((row) => row['type'] === 'note-appended')
      .map((row) => String((JSON.parse(String(row['data'])) as { text?: unknown }).text));
    return [...new Set(notes)].flatMap((note) => [`  ${step.task}/${step.role}`, ...quoteLines(note)]);
  });
  return lines.length === 0 ? [] : ['notes:', ...lines, ''];
}
