import type { Checkpoint, CheckpointKind, Finding } from './checkpoint.ts';
import type { AskClass, Decision } from './decision.ts';
import { escapeForDisplay } from './escape.ts';

/** What `show` and `review` print: every string is escaped and free of newlines. */
export interface CheckpointText {
  readonly heading: string;
  readonly lines: readonly string[];
  readonly effects: { readonly approve: string; readonly reject: string };
}

/** A path as a checkpoint's `payload.paths` may list it; only `path` is required. */
export interface ShownPath {
  readonly path: string;
  readonly decision?: Decision;
  readonly askClass?: AskClass;
  readonly rule?: string;
  readonly special?: string;
  readonly task?: string;
  readonly role?: string;
}

/** Ordinary paths beyond this number are counted, not listed. Protected paths are always listed (security.md I36). */
const LISTED_ORDINARY_PATHS = 20;

/**
 * The text of a checkpoint: failed verification first, then every protected path, then the rest.
 * Decisions come from `payload.paths`; a path of the binding that is not in there is listed without one.
 */
export function checkpointText(checkpoint: Checkpoint): CheckpointText {
  const paths = shownPaths(checkpoint);
  const guarded = paths.filter(isProtected);
  const ordinary = paths.filter((path) => !isProtected(path));
  const urgent = checkpoint.findings.filter(isUrgent);
  const other = checkpoint.findings.filter((finding) => !isUrgent(finding));
  const lines = [
    ...whoLines(checkpoint),
    ...urgent.map(findingLine),
    // A plan's globs are expectations, no decisions; its body lists them by task.
    ...(checkpoint.kind === 'plan' ? [] : pathLines(guarded, ordinary)),
    ...other.map(findingLine),
    ...bodyLines(checkpoint.body),
    ...answerLines(checkpoint),
  ];
  const effects = effectsOf(checkpoint);
  return { heading: headingOf(checkpoint), lines, effects };
}

/** The kinds that ask two different things say which one it is. */
function effectsOf({ kind, diff, payload }: Checkpoint): CheckpointText['effects'] {
  if (kind === 'boundary' && diff === undefined) return GRANT_EFFECTS;
  if (kind === 'stalled' && payload['scope'] === 'run') return RUN_STALLED_EFFECTS;
  const others = payload['others'];
  return kind === 'conflict' && Array.isArray(others) && others.length === 0 ? TARGET_EFFECTS : EFFECTS[kind];
}

const GRANT_EFFECTS = {
  approve: 'the paths named may be written in this task; the step goes on',
  reject: 'nothing is written there, the reason goes to the agent, the step goes on',
};

const RUN_STALLED_EFFECTS = {
  approve: 'the run gets the same allowance again',
  reject: 'the tasks that are still open are failed',
};

const TARGET_EFFECTS = {
  approve: 'the task starts again from the target as it is now',
  reject: 'the task is rejected, the target stays as it is',
};

const EFFECTS = {
  plan: { approve: 'the tasks start', reject: 'the run is rejected' },
  merge: {
    approve: 'the gate judges the result once more, then the target moves to it',
    reject: 'the run is rejected and the target stays; with --rework the reason goes back to coder instead',
  },
  boundary: {
    approve: 'exactly the change shown is applied; the step goes on',
    reject: 'the change is discarded, the reason goes to the agent, the step goes on',
  },
  violation: {
    approve: 'the paths that can be granted may be written in this task; the step goes on and counts anew',
    reject: 'they stay refused, the reason goes to the agent, the step goes on and counts anew',
  },
  'deny-workaround': {
    approve: 'exactly the change shown is applied; the step goes on',
    reject: 'the change is discarded, the reason goes to the agent, the step goes on',
  },
  generated: {
    approve: 'the generator runs and only its output is taken; the step goes on',
    reject: 'the change is discarded, the reason goes to the agent, the step goes on',
  },
  command: {
    approve: 'exactly this command runs once; the step goes on',
    reject: 'the command does not run, the reason goes to the agent, the step goes on',
  },
  'new-tool': {
    approve: 'exactly this tool may be used in this task; the step goes on',
    reject: 'the tool stays out of reach, the reason goes to the agent, the step goes on',
  },
  budget: {
    approve:
      'with --tokens N (--usd N where it is in dollars) the cap becomes N (absolute) and the same conversation goes on',
    reject: 'the task ends as budget_exhausted',
  },
  stalled: { approve: 'the same allowance again; the step goes on', reject: 'the task is failed' },
  route: { approve: 'the same allowance again; the step goes on', reject: 'the task is failed' },
  conflict: {
    approve: 'the later task waits for the other and starts again from its result',
    reject: 'the later task is rejected, the other goes on',
  },
} as const satisfies Record<CheckpointKind, { approve: string; reject: string }>;

const PROTECTED = {
  never: true,
  generated: true,
  deny: true,
  ask: true,
  out: true,
  write: false,
} as const satisfies Record<Decision, boolean>;

function shownPaths(checkpoint: Checkpoint): readonly ShownPath[] {
  const listed = checkpoint.payload['paths'];
  const known = Array.isArray(listed) ? listed.filter(isShownPath) : [];
  const named = new Set(known.map((entry) => entry.path));
  return [...known, ...checkpoint.binding.paths.filter((path) => !named.has(path)).map((path) => ({ path }))];
}

function isShownPath(value: unknown): value is ShownPath {
  return typeof value === 'object' && value !== null && 'path' in value && typeof value.path === 'string';
}

function isProtected(path: ShownPath): boolean {
  if (typeof path.special === 'string') return true;
  return path.decision !== undefined && (PROTECTED[path.decision] ?? true);
}

function isUrgent(finding: Finding): boolean {
  return finding.kind.startsWith('verify');
}

function headingOf(checkpoint: Checkpoint): string {
  return escapeForDisplay(`${checkpoint.id} ${checkpoint.kind} (${checkpoint.state}): ${checkpoint.summary}`);
}

function whoLines(checkpoint: Checkpoint): string[] {
  const step = [checkpoint.run, checkpoint.task, checkpoint.role].filter((part) => part !== undefined).join('/');
  const attempt = checkpoint.attempt === undefined ? '' : `#${checkpoint.attempt}`;
  const replaced = checkpoint.replaces === undefined ? [] : [`replaces: ${checkpoint.replaces}`];
  return [`step: ${step}${attempt}`, `digest: ${checkpoint.digest.slice(0, 12)}`, ...replaced].map((line) =>
    escapeForDisplay(line),
  );
}

function pathLines(guarded: readonly ShownPath[], ordinary: readonly ShownPath[]): string[] {
  if (guarded.length + ordinary.length === 0) return [];
  const listed = ordinary.slice(0, LISTED_ORDINARY_PATHS);
  const hidden = ordinary.length - listed.length;
  return [
    `paths: ${guarded.length + ordinary.length} (${guarded.length} protected)`,
    ...guarded.map((path) => pathLine('!', path)),
    ...listed.map((path) => pathLine(' ', path)),
    ...(hidden > 0 ? [`    and ${hidden} more inside the boundary`] : []),
  ];
}

function pathLine(mark: string, path: ShownPath): string {
  const decision = path.decision === undefined ? '' : `${path.decision} `;
  const why = [path.special, path.rule === undefined ? undefined : `rule ${path.rule}`].filter(Boolean).join(', ');
  const who = [path.task, path.role].filter(Boolean).join('/');
  const tail = `${why === '' ? '' : `  (${why})`}${who === '' ? '' : `  by ${who}`}`;
  return escapeForDisplay(`  ${mark} ${decision}${path.path}${tail}`);
}

function findingLine(finding: Finding): string {
  const who = [finding.task, finding.role].filter(Boolean).join('/');
  return escapeForDisplay(`finding ${finding.kind}${who === '' ? '' : ` (${who})`}: ${finding.text}`);
}

function bodyLines(body: string): string[] {
  if (body === '') return [];
  return body.split('\n').map((line) => escapeForDisplay(line, { multiline: true }));
}

function answerLines(checkpoint: Checkpoint): string[] {
  const answer = checkpoint.answer;
  if (answer === undefined) return [];
  switch (answer.verdict) {
    case 'approve':
      return [escapeForDisplay(`approved by ${answer.by}`)];
    case 'reject':
      return [escapeForDisplay(`rejected by ${answer.by}: ${answer.reason}`)];
  }
}
