import { type Check, found, passed } from '../../domain/check.ts';
import { messageOf, OrchestratorError } from '../../domain/errors.ts';
import type { StateDirectory } from '../../store/state-directory.ts';
import type { Io } from '../io.ts';
import { type Given, textOption } from '../program/verb.ts';
import { findRepository, type Repository } from '../repository.ts';
import { stateOf } from '../state.ts';
import { checkoutChecks } from './checkout.ts';
import { environmentChecks } from './environment.ts';
import { guard } from './guard.ts';
import { machineChecks } from './machine.ts';
import { modelChecks } from './models.ts';
import { examinePolicies, rolesToCheck } from './policies.ts';
import { printChecks } from './print-checks.ts';
import { roleChecks } from './roles.ts';
import { sandboxChecks } from './sandbox.ts';
import { stateChecks } from './state-directory.ts';
import { examineVariables } from './variables.ts';
import { watchChecks } from './watching.ts';

/** Exit 0 when nothing is wrong (warnings and notes aside), else 1. */
export async function doctor(io: Io, given: Given): Promise<number> {
  const checks = await examine(io, textOption(given, 'role'));
  printChecks(io, checks);
  return checks.every((check) => check.ok) ? 0 : 1;
}

async function examine(io: Io, role: string | undefined): Promise<readonly Check[]> {
  const machine = [...(await machineChecks(io)), clockCheck(io.now()), ...(await environmentChecks(io))];
  const repository = await locate(() => findRepository(io));
  if (repository instanceof OrchestratorError) return [...machine, outsideCheck('repository', repository)];
  const state = await locate(() => stateOf(io, repository, { create: false }));
  return [
    ...machine,
    ...(await checkoutChecks(io, repository)),
    ...(state instanceof OrchestratorError
      ? [outsideCheck('state', state)]
      : await guard('state', () => stateChecks(io, state))),
    ...(await examineSetUp(io, { repository, state: state instanceof OrchestratorError ? undefined : state, role })),
  ];
}

/** Everything that `init` has made and the user has filled in. */
async function examineSetUp(
  io: Io,
  given: { repository: Repository; state: StateDirectory | undefined; role: string | undefined },
): Promise<readonly Check[]> {
  const { repository, state, role } = given;
  const variables = await examineVariables(io, state?.env);
  const policies = await examinePolicies(io, repository.root, variables.values);
  const { set } = policies;
  const roles = set === undefined ? undefined : { set, list: await rolesToCheck(set, role) };
  const stateDirectory = state?.directory;
  const mode = set?.global.sandbox.mode ?? 'auto';
  return [
    ...variables.checks,
    ...policies.checks,
    ...(await guard('sandbox', () => sandboxChecks(io, { mode, stateDirectory }))),
    ...(await guard('inotify', () => watchChecks(repository.root, set?.global.workspace.slots ?? DEFAULT_SLOTS))),
    ...(roles === undefined
      ? []
      : await roleChecks({ set: roles.set, roles: roles.list, variables: variables.values })),
    ...(state === undefined
      ? []
      : await guard('models', () => modelChecks(io, { state, role, roles, variables: variables.values }))),
  ];
}

const DEFAULT_SLOTS = 4;

/** What lies outside the repository's own state is told as a finding; anything but a wrong configuration is a bug. */
async function locate<Found>(find: () => Promise<Found>): Promise<Found | OrchestratorError> {
  try {
    return await find();
  } catch (error) {
    if (error instanceof OrchestratorError && error.code === 'configuration') return error;
    throw error;
  }
}

function outsideCheck(name: 'repository' | 'state', error: OrchestratorError): Check {
  const remedy = name === 'repository' ? 'go to your checkout, or name it with -C' : 'orchestrator init';
  const cause =
    error.details.join('; ') || (name === 'repository' ? 'there is nothing to look at here' : 'it has no state yet');
  return found(name, { level: 'error', symptom: messageOf(error), cause, remedy });
}

/** Before this version could exist; the endpoint's clock is compared with its answers. */
const EARLIEST = Date.UTC(2026, 0, 1);

function clockCheck(nowMs: number): Check {
  if (nowMs >= EARLIEST) return passed('clock', new Date(nowMs).toISOString());
  return found('clock', {
    level: 'error',
    symptom: `this machine's clock says ${new Date(nowMs).toISOString()}`,
    cause: 'it is not set',
    remedy: 'set it (timedatectl set-ntp true): day budgets and certificates go by it',
  });
}
