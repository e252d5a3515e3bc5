import { z } from 'zod';
import type { RepoPath } from '../../../domain/path.ts';
import { judgeWrites, resolveForWrite } from './boundary.ts';
import { done } from './outcome.ts';
import { defineTool } from './tool.ts';

export const deleteFileTool = defineTool({
  name: 'delete_file',
  description: 'Deletes one file (of a symbolic link: the link, not what it points to).',
  input: { path: z.string().describe('relative to the repository') },
  execute: async ({ path }, context) => {
    const attempt = { tool: 'delete_file', written: path, operation: 'delete' } as const;
    const resolved = await resolveForWrite(context, attempt);
    if (resolved.kind === 'stopped') return resolved.outcome;
    const { own } = resolved.at;
    const judgement = await judgeWrites(context, 'delete_file', [{ ...attempt, paths: [own as RepoPath] }]);
    if (judgement.kind === 'stopped') return judgement.outcome;
    return done((await context.worker.request({ op: 'delete', path: own })).text);
  },
});
