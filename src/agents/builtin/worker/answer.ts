import { deleteFile, editFile, moveFile, writeFileWhole } from './change-files.ts';
import { listFiles } from './list-files.ts';
import type { Answers, Request, WorkerSettings } from './protocol.ts';
import { readText } from './read-file.ts';
import { resolvePath } from './resolve.ts';
import { runCommand } from './run-command.ts';
import { scanFiles, searchWithRipgrep } from './search.ts';

/** Does what a request asks for. Throws Failure for what an agent can cause. */
export async function answer(
  settings: WorkerSettings,
  request: Request,
  cancelled: AbortSignal,
): Promise<Answers[Request['op']]> {
  switch (request.op) {
    case 'resolve':
      return resolvePath(settings.tree, request.path);
    case 'read':
      return { text: await readText(settings.tree, request) };
    case 'list':
      return { paths: await listFiles(settings) };
    case 'search':
      return searchWithRipgrep(settings, request);
    case 'scan':
      return { text: await scanFiles(settings, request) };
    case 'edit':
      return { text: await editFile(settings.tree, request) };
    case 'write':
      return { text: await writeFileWhole(settings.tree, request.path, request.content) };
    case 'delete':
      return { text: await deleteFile(settings.tree, request.path) };
    case 'move':
      return { text: await moveFile(settings.tree, request.from, request.to) };
    case 'exec':
      return runCommand(settings, { ...request, cancelled });
  }
}
