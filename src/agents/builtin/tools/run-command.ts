import { z } from 'zod';
import { isCommandAllowed } from '../../../policy/command.ts';
import { done, failed } from './outcome.ts';
import { defineTool } from './tool.ts';

export const runCommandTool = defineTool({
  name: 'run_command',
  description:
    'Runs a shell command at the top of the repository and answers its output and exit code. It has no standard input and no terminal; processes left in the background end with it.',
  input: {
    command: z.string().min(1),
    timeout_seconds: z.number().positive().describe("at most the role's own limit").optional(),
  },
  execute: async (input, context) => {
    const { run } = context.assignment.policy;
    const allowed = isCommandAllowed(run.allow, input.command);
    if (!allowed.allowed) {
      await context.assignment.host.refusedCommand({ command: input.command, reason: allowed.reason });
      return failed(
        `Refused: ${allowed.reason}. Nothing was run. Use a command that is covered, or write down with append_note what should be run.`,
      );
    }
    const wished = input.timeout_seconds === undefined ? run.timeoutMs : input.timeout_seconds * 1000;
    const request = { op: 'exec', command: input.command, timeoutMs: Math.min(wished, run.timeoutMs) } as const;
    const result = await context.worker.request(request, context.signal);
    return result.ending === 'exited' && result.code === 0 ? done(result.text) : failed(result.text);
  },
});
