import type { AnswerResult } from '../../api/backend.ts';
import type { Io } from '../io.ts';
import { printJson } from './json.ts';
import { mention, say } from './say.ts';

/** What became of one or more answers, and for a void checkpoint which one replaces it. */
export function printAnswers(io: Io, results: readonly AnswerResult[]): void {
  if (io.json) {
    printJson(io, results);
    return;
  }
  for (const result of results) {
    say(io, `${result.id} ${result.state}: ${result.message}`);
    if (result.replacedBy === undefined) continue;
    say(io, `${result.replacedBy} replaces it and shows what changed`);
    mention(io, `see it with \`orchestrator show ${result.replacedBy}\``);
  }
}
