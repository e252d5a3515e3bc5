import { z } from 'zod';
import { resolveForRead } from './inside.ts';
import { done } from './outcome.ts';
import { defineTool } from './tool.ts';

export const readFileTool = defineTool({
  name: 'read_file',
  description:
    'Reads a text file. The text comes as it is; only when a part is left out, a first line in brackets says which lines follow.',
  input: {
    path: z.string().describe('relative to the repository'),
    offset: z.number().int().min(1).describe('first line, from 1').optional(),
    limit: z.number().int().min(1).describe('how many lines').optional(),
  },
  execute: async (input, context) => {
    const path = await resolveForRead(context, input.path);
    const { offset, limit } = input;
    const range = { ...(offset === undefined ? {} : { offset }), ...(limit === undefined ? {} : { limit }) };
    return done((await context.worker.request({ op: 'read', path, ...range })).text);
  },
});
