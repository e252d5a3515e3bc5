import { z } from 'zod';
import { done, failed } from './outcome.ts';
import { defineTool } from './tool.ts';

export const submitPlanTool = defineTool({
  name: 'submit_plan',
  description:
    'Hands in the plan: the tasks of this run. Tasks get their ids from the daemon; depends_on counts from 0 in this list. Call it once, when the plan is complete.',
  input: {
    tasks: z
      .array(
        z.strictObject({
          title: z.string().trim().min(1),
          steps: z.array(z.string()).describe('roles in order; omitted: the whole pipeline').optional(),
          expected_paths: z.array(z.string()).describe('globs that the task will probably touch'),
          instructions: z.string().trim().min(1),
          acceptance: z.string().describe('a command that fails now and passes when the task is done').optional(),
          depends_on: z.array(z.number().int().min(0)).optional(),
        }),
      )
      .min(1),
  },
  execute: async (plan, context) => {
    const wrong = await context.assignment.host.submitPlan(plan);
    return wrong === undefined ? done('The plan was accepted. Call finish with a short summary.') : failed(wrong);
  },
});
