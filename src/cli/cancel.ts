import { OrchestratorError } from '../domain/errors.ts';
import type { Io } from './io.ts';
import { printJson } from './output/json.ts';
import { say } from './output/say.ts';
import type { Given } from './program/verb.ts';
import { withDaemon } from './with-daemon.ts';

export async function cancel(io: Io, given: Given): Promise<number> {
  const [run = ''] = given.args;
  await withDaemon(io, async (api) => {
    if ((await api.showRun(run)) === undefined) {
      throw new OrchestratorError('usage', `there is no run ${run}: \`orchestrator runs\` lists them`);
    }
    await api.cancel(run);
  });
  if (io.json) printJson(io, { run });
  else say(io, `${run} is cancelled; its branch and snapshots stay`);
  return 0;
}
