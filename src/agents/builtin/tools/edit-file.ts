import { z } from 'zod';
import { judgedPaths, judgeWrites, resolveForWrite } from './boundary.ts';
import { done, failed } from './outcome.ts';
import { defineTool } from './tool.ts';

export const editFileTool = defineTool({
  name: 'edit_file',
  description:
    'Replaces old_text by new_text in a file. old_text must be exactly what the file holds and occur once, unless replace_all is true. Line endings of the file are kept.',
  input: {
    path: z.string().describe('relative to the repository'),
    old_text: z.string().min(1),
    new_text: z.string(),
    replace_all: z.boolean().optional(),
  },
  execute: async (input, context) => {
    const attempt = { tool: 'edit_file', written: input.path, operation: 'modify' } as const;
    const resolved = await resolveForWrite(context, attempt);
    if (resolved.kind === 'stopped') return resolved.outcome;
    const judgement = await judgeWrites(context, 'edit_file', [{ ...attempt, paths: judgedPaths(resolved.at) }]);
    if (judgement.kind === 'stopped') return judgement.outcome;
    if (input.old_text === input.new_text) return failed('old_text and new_text are the same; nothing was changed.');
    const { text } = await context.worker.request({
      op: 'edit',
      path: resolved.at.canonical,
      oldText: input.old_text,
      newText: input.new_text,
      replaceAll: input.replace_all ?? false,
    });
    return done(text);
  },
});
