import micromatch from 'micromatch';
import { z } from 'zod';
import { cutLines } from '../worker/cut-text.ts';
import { done } from './outcome.ts';
import { defineTool, type ToolContext } from './tool.ts';

export const listFilesTool = defineTool({
  name: 'list_files',
  description: 'Lists the files of the repository, tracked and new ones; ignored files are left out.',
  input: {
    glob: z.string().describe('for example src/**/*.py; a glob without a slash matches names anywhere').optional(),
  },
  execute: async (input, context) => {
    const paths = await matchingPaths(context, input.glob);
    if (paths.length === 0) return done('No files match.');
    const { kept, left } = cutLines(paths, LIMITS);
    const note = left === 0 ? [] : [`[${left} more of ${paths.length} files left out; narrow the glob]`];
    return done([...kept, ...note].join('\n'));
  },
});

export async function matchingPaths(context: ToolContext, glob: string | undefined): Promise<readonly string[]> {
  const { paths } = await context.worker.request({ op: 'list' });
  if (glob === undefined) return paths;
  const relative = glob.replace(/^\.?\//, '');
  const isMatch = micromatch.matcher(relative.includes('/') ? relative : `**/${relative}`, { dot: true });
  return paths.filter((path) => isMatch(path));
}

const LIMITS = { bytes: 30_000, lines: 1000 };
