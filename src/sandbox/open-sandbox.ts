import { existsSync } from 'node:fs';
import { userInfo } from 'node:os';
import path from 'node:path';
import { messageOf, OrchestratorError } from '../domain/errors.ts';
import type { HostDirectories } from './bwrap/inspect.ts';
import { launchInBwrap } from './bwrap/launch.ts';
import { endMarkedProcesses } from './detect-only/end-leftovers.ts';
import { launchUnconfined } from './detect-only/launch.ts';
import { type Launch, tryForbidden } from './probe.ts';
import type { ProbeResult, Sandbox } from './sandbox.ts';
import { toolchainPaths } from './toolchain.ts';

export interface OpenSandboxOptions {
  readonly mode: 'auto' | 'kernel' | 'detect-only';
  /** An existing directory of the daemon's own; the probe works in a new directory below it and removes that. */
  readonly probeDirectory: string;
  /** The daemon's environment variables: PATH, HOME, XDG_RUNTIME_DIR and TMPDIR are looked at. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly log: { info(message: string): void; warn(message: string): void };
  /** Where bwrap is looked for; the system's directories first, since only that one may have the rights to work. */
  readonly bwrapPath?: string;
}

/**
 * Chooses the strongest mode that a real attempt to break out proves. Throws OrchestratorError `configuration` when
 * the mode is `kernel` and that proof fails: a sandbox that doesn't hold is never used as if it did.
 */
export async function openSandbox(options: OpenSandboxOptions): Promise<Sandbox> {
  if (options.mode === 'detect-only') return detectOnly(['detect-only was chosen in policies/global.yaml']);
  const { launch, evidence, proved } = await openBwrap(options);
  if (launch !== undefined && proved) {
    options.log.info(`Sandbox: bwrap, proved by forbidden attempts (${evidence.join('; ')})`);
    // Namespaces ended with the daemon; the mode may have been a weaker one then.
    return { probe: { mode: 'bwrap', proved: true, evidence }, launch, endLeftovers: endMarkedProcesses };
  }
  if (options.mode === 'kernel') {
    throw new OrchestratorError('configuration', `sandbox.mode is kernel, but ${REASON}. ${REMEDY}`, {
      details: evidence,
    });
  }
  const warning = `Sandbox: ${REASON}, so nothing is prevented and effects are only detected (detect-only). ${REMEDY}`;
  options.log.warn(`${warning} Reason: ${evidence.join('; ')}`);
  return detectOnly(evidence, warning);
}

const REASON = 'bubblewrap (bwrap) could not be proved to hold here';
const REMEDY =
  'Install bubblewrap >= 0.8 and allow unprivileged user namespaces, or set sandbox.mode: detect-only to work without.';

function detectOnly(reasons: readonly string[], warning?: string): Sandbox {
  const evidence = [...reasons, 'writes, reads and connections are not prevented; effects are judged afterwards'];
  const probe: ProbeResult = {
    mode: 'detect-only',
    proved: false,
    evidence,
    ...(warning === undefined ? {} : { warning }),
  };
  return {
    probe,
    launch: (_view, launchOptions) => launchUnconfined(launchOptions),
    endLeftovers: endMarkedProcesses,
  };
}

async function openBwrap(
  options: OpenSandboxOptions,
): Promise<{ launch: Launch | undefined; evidence: readonly string[]; proved: boolean }> {
  const bwrap = options.bwrapPath ?? findBwrap(options.environment['PATH'] ?? '');
  if (bwrap === undefined) return { launch: undefined, evidence: ['bwrap is not in PATH'], proved: false };
  const host = hostDirectories(options.environment);
  const launch: Launch = (view, launchOptions) => launchInBwrap(bwrap, host, { view, options: launchOptions });
  const readOnly = toolchainPaths({ path: '', execPath: process.execPath, packageRoot: undefined, home: host.home });
  try {
    const result = await tryForbidden(launch, {
      directory: options.probeDirectory,
      execPath: process.execPath,
      readOnly,
    });
    return { launch, ...result };
  } catch (error) {
    return { launch, evidence: [`the attempt itself failed: ${messageOf(error)}`], proved: false };
  }
}

function findBwrap(searchPath: string): string | undefined {
  const directories = ['/usr/bin', '/usr/local/bin', ...searchPath.split(':').filter((one) => path.isAbsolute(one))];
  return directories.map((directory) => path.join(directory, 'bwrap')).find((file) => existsSync(file));
}

function hostDirectories(environment: Readonly<Record<string, string | undefined>>): HostDirectories {
  return {
    home: environment['HOME'],
    passwdHome: passwdHome(),
    runtime: environment['XDG_RUNTIME_DIR'],
    temporary: environment['TMPDIR'],
  };
}

function passwdHome(): string | undefined {
  try {
    return userInfo().homedir;
  } catch {
    // A user id without a passwd entry, as in some containers.
    return undefined;
  }
}
