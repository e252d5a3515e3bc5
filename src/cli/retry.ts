import { OrchestratorError } from '../domain/errors.ts';
import type { Io } from './io.ts';
import { printJson } from './output/json.ts';
import { say } from './output/say.ts';
import { type Given, textOption } from './program/verb.ts';
import { parseTaskReference } from './task-reference.ts';
import { withDaemon } from './with-daemon.ts';

export async function retry(io: Io, given: Given): Promise<number> {
  const [text = ''] = given.args;
  const reference = parseTaskReference(text, textOption(given, 'run'));
  if (reference === undefined) throw new OrchestratorError('usage', `${text} is not a task: write r-…/T1`);
  await withDaemon(io, async (api) => {
    const run = await api.showRun(reference.run);
    if (run?.tasks.some((task) => task.id === reference.task) !== true) {
      const known =
        run === undefined
          ? 'no such run'
          : `its tasks are ${run.tasks.map((task) => task.id).join(', ') || 'not planned yet'}`;
      throw new OrchestratorError('usage', `there is no task ${reference.run}/${reference.task}: ${known}`);
    }
    await api.retry(reference);
  });
  if (io.json) printJson(io, reference);
  else say(io, `${reference.run}/${reference.task} starts again`);
  return 0;
}
