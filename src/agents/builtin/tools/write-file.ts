import { z } from 'zod';
import { judgedPaths, judgeWrites, resolveForWrite } from './boundary.ts';
import { done } from './outcome.ts';
import { defineTool } from './tool.ts';

export const writeFileTool = defineTool({
  name: 'write_file',
  description:
    'Creates a file with its directories, or replaces the whole content of one. Prefer edit_file for changes.',
  input: { path: z.string().describe('relative to the repository'), content: z.string() },
  execute: async ({ path, content }, context) => {
    const resolved = await resolveForWrite(context, { tool: 'write_file', written: path, operation: 'modify' });
    if (resolved.kind === 'stopped') return resolved.outcome;
    const operation = resolved.at.exists === 'missing' ? 'create' : 'modify';
    const write = { operation, written: path, paths: judgedPaths(resolved.at) } as const;
    const judgement = await judgeWrites(context, 'write_file', [write]);
    if (judgement.kind === 'stopped') return judgement.outcome;
    return done((await context.worker.request({ op: 'write', path: resolved.at.canonical, content })).text);
  },
});
