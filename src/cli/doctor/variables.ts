import { readFile, stat } from 'node:fs/promises';
import { type Check, found, passed } from '../../domain/check.ts';
import type { Problem } from '../../policy/policy.ts';
import type { Io } from '../io.ts';

export interface FoundVariables {
  readonly checks: readonly Check[];
  /** What keys and policies are read from, as `start` reads it. */
  readonly values: ReadonlyMap<string, string>;
}

/** `.env` and what of the process environment stands in for it. Names are told, values never. */
export async function examineVariables(io: Io, file: string | undefined): Promise<FoundVariables> {
  const { parseEnvFile } = await import('../../policy/env-file.ts');
  const { chooseVariables } = await import('../../policy/choose-variables.ts');
  const text = file === undefined ? undefined : await readFile(file, 'utf8').catch(() => undefined);
  const parsed = parseEnvFile(text ?? '', file ?? '.env');
  const ours = new Map(Object.entries(io.env).filter(isOurs));
  const { values, fromFallback } = chooseVariables(parsed, ours);
  const differing = [...ours].filter(([name, value]) => !fromFallback.includes(name) && values.get(name) !== value);
  const problems = [...parsed.problems, ...parsed.warnings].map(lineCheck);
  const checks = [
    ...(file === undefined ? [] : await fileChecks(file, { isThere: text !== undefined, problems })),
    ...fallbackChecks(fromFallback),
    ...differingChecks(differing.map(([name]) => name)),
  ];
  return { checks, values };
}

function isOurs(entry: [string, string | undefined]): entry is [string, string] {
  return entry[0].startsWith('ORCH_') && entry[1] !== undefined && entry[1] !== '';
}

async function fileChecks(
  file: string,
  { isThere, problems }: { isThere: boolean; problems: readonly Check[] },
): Promise<readonly Check[]> {
  if (!isThere) {
    const cause = 'it was not made, or cannot be read';
    const remedy = 'orchestrator init makes its template';
    return [found('.env', { level: 'warning', symptom: `${file} is not there`, cause, remedy })];
  }
  const mode = (await stat(file)).mode & 0o777;
  if ((mode & 0o077) === 0)
    return problems.length > 0 ? problems : [passed('.env', `${file}, mode 0${mode.toString(8)}`)];
  const finding = {
    level: 'warning',
    symptom: `${file} has mode 0${mode.toString(8)}`,
    cause: 'others on this machine may read the keys',
    remedy: `chmod 600 ${file}`,
  } as const;
  return [found('.env', finding), ...problems];
}

function lineCheck(problem: Problem): Check {
  return found('.env', {
    level: problem.severity,
    symptom: `${problem.file}:${problem.line}: ${problem.message}`,
    cause: problem.severity === 'error' ? '`start` refuses such a file' : 'it was read in the way that is told',
    remedy: 'correct the line; values need no quotes',
  });
}

function fallbackChecks(names: readonly string[]): readonly Check[] {
  if (names.length === 0) return [];
  return [
    found('environment', {
      level: 'warning',
      symptom: `taken from the environment: ${names.join(', ')}`,
      cause: '.env has no value for them, and another terminal may have another one',
      remedy: 'put them into the file that `orchestrator path env` names',
    }),
  ];
}

function differingChecks(names: readonly string[]): readonly Check[] {
  if (names.length === 0) return [];
  return [
    found('environment', {
      level: 'warning',
      symptom: `differing in the environment and in .env: ${names.join(', ')}`,
      cause: 'they are set in both, and .env wins',
      remedy: `unset them in the shell, or change .env`,
    }),
  ];
}
