import type { ToolGroup } from '../../../policy/policy.ts';
import type { Assignment } from '../../runner.ts';
import { appendNoteTool } from './append-note.ts';
import { deleteFileTool } from './delete-file.ts';
import { editFileTool } from './edit-file.ts';
import { finishTool } from './finish.ts';
import { listFilesTool } from './list-files.ts';
import { moveFileTool } from './move-file.ts';
import { readFileTool } from './read-file.ts';
import { requestAccessTool } from './request-access.ts';
import { runCommandTool } from './run-command.ts';
import { searchTool } from './search.ts';
import { submitPlanTool } from './submit-plan.ts';
import { submitReviewTool } from './submit-review.ts';
import type { Tool } from './tool.ts';
import { writeFileTool } from './write-file.ts';

/** The tools of one step, always in the same order so that prompts stay cacheable. */
export function offeredTools(groups: readonly ToolGroup[], submits: Assignment['submits']): readonly Tool[] {
  const byGroup = ORDER.filter((group) => groups.includes(group)).flatMap((group) => TOOLS[group]);
  return [...byGroup, requestAccessTool, ...SUBMISSIONS[submits], finishTool];
}

const ORDER = ['read', 'search', 'edit', 'write', 'run', 'note'] as const;

const TOOLS = {
  read: [readFileTool, listFilesTool],
  search: [searchTool],
  edit: [editFileTool],
  write: [writeFileTool, deleteFileTool, moveFileTool],
  run: [runCommandTool],
  note: [appendNoteTool],
} as const satisfies Record<ToolGroup, readonly Tool[]>;

const SUBMISSIONS = {
  plan: [submitPlanTool],
  review: [submitReviewTool],
  nothing: [],
} as const satisfies Record<Assignment['submits'], readonly Tool[]>;
