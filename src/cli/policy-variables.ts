import { readFile } from 'node:fs/promises';
import { OrchestratorError } from '../domain/errors.ts';
import type { Io } from './io.ts';
import { mention } from './output/say.ts';
import { findRepository } from './repository.ts';
import { stateOf } from './state.ts';

/** The values of `.env`; none where there is no such file yet. The policies' own verbs work before `init` is complete. */
export async function readVariables(io: Io): Promise<ReadonlyMap<string, string>> {
  const file = await envFile(io);
  const text = file === undefined ? undefined : await readFile(file, 'utf8').catch(() => undefined);
  if (file === undefined || text === undefined) return new Map();
  const { parseEnvFile } = await import('../policy/env-file.ts');
  const parsed = parseEnvFile(text, file);
  for (const problem of [...parsed.problems, ...parsed.warnings]) {
    mention(io, `${problem.severity}: ${problem.file}:${problem.line}: ${problem.message}`);
  }
  return new Map([...parsed.variables].filter(([, value]) => value !== ''));
}

async function envFile(io: Io): Promise<string | undefined> {
  try {
    return (await stateOf(io, await findRepository(io), { create: false })).env;
  } catch (error) {
    if (error instanceof OrchestratorError && error.code === 'configuration') return undefined;
    throw error;
  }
}
