import type { PromptInput } from './prompt-input.ts';

/** How a role hands in its result, for the roles that do. */
export function submissionLines(input: PromptInput): readonly string[] {
  switch (input.submits) {
    case 'plan':
      return planLines(input);
    case 'review':
      return REVIEW_LINES;
    case 'nothing':
      return [];
  }
}

function planLines({ pipeline, verify }: PromptInput): readonly string[] {
  const roles = pipeline.filter(({ role }) => role !== 'planner');
  const lanes = roles.map(({ role, write, ask }) => {
    const asks = ask.length === 0 ? '' : `; after asking ${ask.join(', ')}`;
    return `${role} may change ${write.length === 0 ? 'nothing' : write.join(', ')}${asks}`;
  });
  return [
    `Hand in the plan with submit_plan: ${PLAN_SHAPE}`,
    `Steps are taken from these roles, in this order (leave steps out for all of them): ${roles.map(({ role }) => role).join(', ')}`,
    ...lanes,
    'The daemon numbers the tasks. depends_on holds positions in your list, counted from 0. Tasks without dependency and without common expected_paths run at the same time.',
    'instructions are all that the roles are told: name files, functions, the behaviour wanted and what must stay as it is.',
    'acceptance is one shell command, run from the root of the repository, that fails before the task and passes after it: the one test that shows the change, not the whole suite. Leave it out rather than give one that passes already.',
    ...(verify === undefined
      ? []
      : [`The result is verified by \`${verify}\`: an acceptance starts its tests in the same way.`]),
    'If submit_plan says what is wrong, correct the plan and submit it again.',
  ];
}

const PLAN_SHAPE =
  '{"tasks": [{"title": "…", "steps": ["coder", "test"], "expected_paths": ["glob", "…"], "instructions": "…", "acceptance": "command", "depends_on": [0]}]}; steps, acceptance and depends_on may be left out.';

const REVIEW_LINES = [
  'Hand in the verdict with submit_review: {"verdict": "approve" | "request_changes", "findings": [{"path": "…", "line": 1, "severity": "high" | "medium" | "low", "text": "…"}]}',
  'request_changes is for what must not be merged: wrong behaviour, a missing or weakened test, a change that the task did not ask for. Matters of taste are findings of an approve.',
];
