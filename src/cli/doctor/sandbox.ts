import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Check, found, passed } from '../../domain/check.ts';
import type { GlobalPolicy } from '../../policy/policy.ts';
import type { Io } from '../io.ts';

/** The probe that `start` makes: real attempts to break out of a view. */
export async function sandboxChecks(
  io: Io,
  given: { mode: GlobalPolicy['sandbox']['mode']; stateDirectory: string | undefined },
): Promise<readonly Check[]> {
  const { openSandbox } = await import('../../sandbox/open-sandbox.ts');
  const parent = (await isDirectory(given.stateDirectory)) ?? tmpdir();
  const probeDirectory = await mkdtemp(join(parent, 'doctor-probe-'));
  try {
    const log = { info: () => undefined, warn: () => undefined };
    const { probe } = await openSandbox({ mode: given.mode, probeDirectory, environment: io.env, log });
    const evidence = probe.evidence.join('; ');
    if (probe.warning === undefined) return [passed('sandbox', `${probe.mode} (${evidence})`)];
    return [
      found('sandbox', {
        level: 'warning',
        symptom: `${probe.mode}: nothing is prevented, effects are only detected`,
        cause: evidence,
        remedy: 'install bubblewrap 0.8 or newer and allow unprivileged user namespaces',
      }),
    ];
  } finally {
    await rm(probeDirectory, { recursive: true, force: true });
  }
}

async function isDirectory(directory: string | undefined): Promise<string | undefined> {
  if (directory === undefined) return undefined;
  const found = await stat(directory).catch(() => undefined);
  return found?.isDirectory() === true ? directory : undefined;
}
