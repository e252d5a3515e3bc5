import { z } from 'zod';
import type { RepoPath } from '../../../domain/path.ts';
import { judgeWrites, resolveForWrite } from './boundary.ts';
import { done } from './outcome.ts';
import { defineTool } from './tool.ts';

export const moveFileTool = defineTool({
  name: 'move_file',
  description: 'Moves or renames one file; the new path must be free. Both paths must be within the boundary.',
  input: { from: z.string().describe('relative to the repository'), to: z.string() },
  execute: async (input, context) => {
    const source = { tool: 'move_file', written: input.from, operation: 'delete' } as const;
    const target = { tool: 'move_file', written: input.to, operation: 'create' } as const;
    const from = await resolveForWrite(context, source);
    if (from.kind === 'stopped') return from.outcome;
    const to = await resolveForWrite(context, target);
    if (to.kind === 'stopped') return to.outcome;
    const judgement = await judgeWrites(context, 'move_file', [
      { ...source, paths: [from.at.own as RepoPath] },
      { ...target, paths: [to.at.own as RepoPath] },
    ]);
    if (judgement.kind === 'stopped') return judgement.outcome;
    return done((await context.worker.request({ op: 'move', from: from.at.own, to: to.at.own })).text);
  },
});
