import { buildPrompt } from '../agents/prompt/build-prompt.ts';
import type { PromptInput } from '../agents/prompt/prompt-input.ts';
import type { ObjectId } from '../domain/ids.ts';
import { PLAN_TASK } from '../domain/run.ts';
import type { GlobalPolicy, Rule } from '../policy/policy.ts';
import type { Engine } from './engine.ts';
import { readRun } from './records.ts';
import type { Session } from './session.ts';
import { submissionOf } from './submission-of.ts';

const INSTRUCTION_FILES = ['AGENTS.md', 'CLAUDE.md'];
const INSTRUCTIONS_BYTES = 16_000;

/** The prompt of a step, from the pinned policy, the task and what earlier steps said. */
export async function promptOf(session: Session): Promise<{ system: string; user: string }> {
  const { engine, run, task, policy, step } = session;
  const policies = engine.policies.pinned(run);
  const vars = policies.global.vars;
  const input: PromptInput = {
    role: policy.role,
    submits: submissionOf(policy, run),
    policy,
    globs: {
      write: globsOf(policy.write, vars),
      ask: globsOf(policy.ask, vars),
      deny: globsOf(policy.deny, vars),
      generatedNote: generatedNote(policies.global),
    },
    pipeline: run.manifest.pipeline.flatMap((role) => {
      const other = policies.roles.get(role);
      return other === undefined ? [] : [{ role, write: globsOf(other.write, vars), ask: globsOf(other.ask, vars) }];
    }),
    verify: policies.global.verify.quick ?? policies.global.verify.full,
    attempt: step.attempt,
    task: task.id === PLAN_TASK ? undefined : { id: task.id, ...pick(task.plan), acceptance: task.plan.acceptance },
    request: run.request,
    budgetLeft: session.budgetLeft(),
    repositoryInstructions: await instructionsOf(engine, run.manifest.baseTree),
    rework: reworkOf(session),
    previous: previousOf(session),
    notes: undefined,
  };
  return buildPrompt(input);
}

function pick(plan: Session['task']['plan']): {
  title: string;
  instructions: string;
  expectedPaths: readonly string[];
} {
  return { title: plan.title, instructions: plan.instructions, expectedPaths: plan.expectedPaths };
}

/** Globs as the model should read them: list variables spelled out. */
function globsOf(rules: readonly Rule[], vars: GlobalPolicy['vars']): readonly string[] {
  return rules.flatMap(({ glob }) => {
    const name = /\$\{([a-z_]+)\}/.exec(glob)?.[1];
    return name === undefined ? [glob] : (vars[name] ?? []).map((value) => glob.replace(`\${${name}}`, value));
  });
}

function generatedNote(global: GlobalPolicy): string {
  const sources = global.generated.sources.map((source) => `${source.output} comes from \`${source.command}\``);
  const globs = global.generated.globs.map((rule) => rule.glob).slice(0, 40);
  return [...sources, ...(globs.length === 0 ? [] : [`generated: ${globs.join(', ')}`])].join('; ');
}

async function instructionsOf(engine: Engine, tree: ObjectId): Promise<string | undefined> {
  const entries = await engine.git.listTree(tree);
  for (const name of INSTRUCTION_FILES) {
    const entry = entries.find((each) => each.path === name);
    if (entry !== undefined)
      return (await engine.git.readBlob(entry.blob)).toString('utf8').slice(0, INSTRUCTIONS_BYTES);
  }
  return undefined;
}

function reworkOf(session: Session): PromptInput['rework'] {
  const { rework } = session.task;
  if (rework === undefined) return undefined;
  const findings = rework.findings.map((finding) => {
    const where =
      finding.path === undefined ? '' : `${finding.path}${finding.line === undefined ? '' : `:${finding.line}`} `;
    return `${finding.severity}: ${where}${finding.text}`;
  });
  return { reason: rework.reason, findings };
}

function previousOf(session: Session): PromptInput['previous'] {
  const steps = readRun(session.engine.store, session.run.id)?.steps ?? [];
  return steps
    .filter((step) => step.task === session.task.id && step.state === 'done' && step.summary !== undefined)
    .map((step) => ({ role: step.role, summary: step.summary ?? '' }));
}
