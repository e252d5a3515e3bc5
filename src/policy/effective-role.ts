import type { RoleName } from '../domain/ids.ts';
import type { Layered } from './layers.ts';
import type { ListVariables } from './list-variables.ts';
import type { Problem, RolePolicy, Rule } from './policy.ts';
import { readRules } from './rules.ts';
import type { RoleFile } from './schema.ts';

/** A parsed role file as the policy that the daemon uses. The rules are only good when there are no problems. */
export function effectiveRole(
  file: RoleFile,
  layered: Layered,
  variables: ListVariables,
): { readonly role: RolePolicy; readonly problems: readonly Problem[] } {
  const problems: Problem[] = [];
  const rules = (list: RuleField): readonly Rule[] => {
    const read = readRules(file[list], [list], layered, variables);
    problems.push(...read.problems);
    return read.rules;
  };
  const role: RolePolicy = {
    role: file.role as RoleName,
    aliases: file.aliases,
    runner: file.runner,
    key: keyOf(file.key),
    model: {
      protocol: file.model.protocol,
      id: file.model.id,
      temperature: file.model.temperature ?? undefined,
      maxOutputTokens: file.model.max_output_tokens,
    },
    write: rules('write'),
    deny: rules('deny'),
    ask: rules('ask'),
    createOnly: rules('create_only'),
    createOnlyElse: file.create_only_else,
    notDeny: rules('not_deny'),
    notWrite: rules('not_write'),
    tools: file.tools,
    run: { allow: file.run.allow, network: file.run.network, timeoutMs: file.run.timeout },
    writeMode: file.write_mode,
    budget: budgetOf(file.budget),
    limits: {
      turns: file.limits.turns,
      wallClockMs: file.limits.wall_clock,
      noProgressRounds: file.limits.no_progress_rounds,
      identicalCalls: file.limits.identical_calls,
      changedLines: file.limits.changed_lines,
      changedFiles: file.limits.changed_files,
    },
  };
  return { role, problems: [...problems, ...temperatureProblem(file, layered)] };
}

type RuleField = 'write' | 'deny' | 'ask' | 'create_only' | 'not_deny' | 'not_write';

function keyOf(reference: string): RolePolicy['key'] {
  const rest = reference.slice(reference.indexOf(':') + 1);
  return reference.startsWith('env:') ? { kind: 'env', name: rest } : { kind: 'file', path: rest };
}

function budgetOf(written: RoleFile['budget']): RolePolicy['budget'] {
  return {
    task: written.task,
    run: written.run,
    day: written.day,
    warnAt: written.warn_at,
    cacheReadWeight: written.cache_read_weight,
    usdTask: written.usd_task ?? undefined,
  };
}

function temperatureProblem(file: RoleFile, layered: Layered): readonly Problem[] {
  const { protocol, temperature } = file.model;
  if (protocol !== 'anthropic' || temperature === null || temperature <= 1) return [];
  const message = '`model.temperature` must be at most 1 with protocol anthropic';
  return [{ severity: 'error', ...layered.placeOf(['model', 'temperature']), message }];
}
