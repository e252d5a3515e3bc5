import { escapeForDisplay } from '../../domain/escape.ts';
import type { Problem } from '../../policy/policy.ts';
import { openCheckout } from './checkout.ts';
import { loadPolicies, problemLine } from './load-policies.ts';
import type { PolicyIo } from './policy-io.ts';

/** `policy check`: every problem of the files, then what they miss in this repository. 0 with warnings, 2 with errors. */
export async function runPolicyCheck(
  options: { readonly json: boolean; readonly variables: ReadonlyMap<string, string> },
  io: PolicyIo,
): Promise<number> {
  const checkout = await openCheckout(io);
  const loaded = await loadPolicies(io, checkout, options.variables);
  if (!loaded.ok) {
    print(io, options.json, { problems: loaded.problems, digest: undefined, notes: [] });
    return 2;
  }
  const { lintPolicies } = await import('../../policy/lint.ts');
  const { missingForStart } = await import('../../policy/start-check.ts');
  const lint = lintPolicies(loaded.set, await checkout.trackedPaths());
  const notes = missingForStart(loaded.set, valuesOf(io, options.variables)).map(
    (missing) => `start will need the ${missing}`,
  );
  if (lint.unowned.count > 0) {
    const shown = lint.unowned.first.map((path) => escapeForDisplay(path)).join(', ');
    const sample = lint.unowned.first.length < lint.unowned.count ? ', for example' : ':';
    const paths = lint.unowned.count === 1 ? '1 tracked path belongs' : `${lint.unowned.count} tracked paths belong`;
    notes.unshift(`${paths} to no role${sample} ${shown}`);
  }
  const problems = [...loaded.set.warnings, ...lint.problems];
  print(io, options.json, { problems, digest: loaded.set.digest, notes, unowned: lint.unowned });
  return 0;
}

interface Outcome {
  readonly problems: readonly Problem[];
  readonly digest: string | undefined;
  readonly notes: readonly string[];
  readonly unowned?: { readonly count: number; readonly first: readonly string[] };
}

function print(io: PolicyIo, json: boolean, outcome: Outcome): void {
  if (json) {
    io.stdout(`${JSON.stringify({ ok: outcome.digest !== undefined, ...outcome }, undefined, 2)}\n`);
    return;
  }
  for (const problem of outcome.problems) io.stdout(`${escapeForDisplay(problemLine(problem))}\n`);
  for (const note of outcome.notes) io.stdout(`note: ${escapeForDisplay(note)}\n`);
  const errors = outcome.problems.filter((problem) => problem.severity === 'error').length;
  const warnings = outcome.problems.length - errors;
  io.stdout(
    outcome.digest === undefined
      ? `${errors} ${errors === 1 ? 'error' : 'errors'}, ${warnings} warnings: these policies are not usable\n`
      : `policies are sound, ${warnings} ${warnings === 1 ? 'warning' : 'warnings'} (digest ${outcome.digest.slice(0, 12)})\n`,
  );
}

function valuesOf(io: PolicyIo, variables: ReadonlyMap<string, string>): ReadonlyMap<string, string> {
  const values = new Map(variables);
  for (const [name, value] of Object.entries(io.env)) {
    if (name.startsWith('ORCH_') && value !== undefined && !values.has(name)) values.set(name, value);
  }
  return values;
}
