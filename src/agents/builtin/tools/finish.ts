import { z } from 'zod';
import { defineTool } from './tool.ts';

export const finishTool = defineTool({
  name: 'finish',
  description: 'Ends this step. Say in a few sentences what was done and what was left.',
  input: { summary: z.string() },
  execute: async ({ summary }) => ({ kind: 'finish', summary }),
});
