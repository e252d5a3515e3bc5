import type { Io } from './io.ts';
import { runPolicyCheck } from './policy/check.ts';
import { runPolicyExplain } from './policy/explain.ts';
import { runPolicySchema } from './policy/schema.ts';
import { runPolicyShow } from './policy/show.ts';
import { readVariables } from './policy-variables.ts';
import { defined, type Given, isGiven, textOption } from './program/verb.ts';

export async function policyCheck(io: Io): Promise<number> {
  return runPolicyCheck({ json: io.json, variables: await readVariables(io) }, io);
}

export async function policyShow(io: Io, given: Given): Promise<number> {
  const [role = ''] = given.args;
  return runPolicyShow({ role, json: io.json, variables: await readVariables(io) }, io);
}

/** With --profile it judges by what the package ships, so no repository and no .env are looked at. */
export async function policyExplain(io: Io, given: Given): Promise<number> {
  const profile = textOption(given, 'profile');
  return runPolicyExplain(
    {
      paths: given.args,
      stdin: isGiven(given, 'stdin'),
      ...defined('role', textOption(given, 'role')),
      ...defined('operation', textOption(given, 'operation')),
      ...defined('profile', profile),
      ...defined('vars', textOption(given, 'vars')),
      json: io.json,
      variables: profile === undefined ? await readVariables(io) : new Map(),
    },
    io,
  );
}

export async function policySchema(io: Io, given: Given): Promise<number> {
  return runPolicySchema(defined('kind', given.args[0]), io);
}
