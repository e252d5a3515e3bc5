import { z } from 'zod';
import { matchingPaths } from './list-files.ts';
import { done } from './outcome.ts';
import { defineTool } from './tool.ts';

export const searchTool = defineTool({
  name: 'search',
  description: 'Finds lines by a regular expression in the files of the repository; answers path:line:text.',
  input: {
    pattern: z.string().min(1).describe('a regular expression'),
    glob: z.string().describe('only in files that match, for example *.py or src/**').optional(),
  },
  execute: async ({ pattern, glob }, context) => {
    const found = await context.worker.request({ op: 'search', pattern, ...(glob === undefined ? {} : { glob }) });
    switch (found.kind) {
      case 'found':
        return done(found.text);
      case 'no-ripgrep': {
        const paths = await matchingPaths(context, glob);
        return done((await context.worker.request({ op: 'scan', pattern, paths })).text);
      }
    }
  },
});
