import { z } from 'zod';
import type { RepoPath } from '../../../domain/path.ts';
import { answered, isHardAsk, judgedPaths, strictestVerdict } from './boundary.ts';
import { done, failed } from './outcome.ts';
import { refusalText } from './refusal.ts';
import { defineTool } from './tool.ts';

/** Asking is the way that roles are told to go: a request that can't be granted is answered, not counted. */
export const requestAccessTool = defineTool({
  name: 'request_access',
  description:
    'Asks a human for leave to write paths whose decision is ask. The step waits for the answer. Name files, not globs.',
  input: {
    paths: z.array(z.string().min(1)).min(1).max(50),
    reason: z.string().trim().min(1).describe('why the task needs it, for the human'),
  },
  execute: async (input, context) => {
    const { role } = context.assignment;
    const asked: RepoPath[] = [];
    for (const written of input.paths) {
      if (/[*?[\]{}]/.test(written))
        return failed(`${written} looks like a glob: name the files that you need to write.`);
      const at = await context.worker.request({ op: 'resolve', path: written });
      if (at.place === 'outside') {
        const verdict = { decision: 'out' } as const;
        return failed(refusalText({ role, operation: 'modify', path: written, verdict, outside: at.reason }));
      }
      const operation = at.exists === 'missing' ? 'create' : 'modify';
      const { verdict, path } = strictestVerdict(context, { operation, written, paths: judgedPaths(at) });
      const { generatedSources } = context;
      if (isHardAsk(verdict)) asked.push(path);
      else if (verdict.decision !== 'write' && verdict.decision !== 'ask') {
        return failed(refusalText({ role, operation, path, verdict, generatedSources }));
      }
    }
    if (asked.length === 0) return done(`You may write ${input.paths.join(', ')} already; go on.`);
    const judgement = answered(context, asked, input.reason);
    return judgement.kind === 'stopped' ? judgement.outcome : done(`Granted for this task: ${asked.join(', ')}.`);
  },
});
