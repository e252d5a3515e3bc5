import { randomUUID } from 'node:crypto';
import path from 'node:path';
import type { AgentId, RoleName, RunId, TaskId } from '../../../src/domain/ids.ts';
import type { AdmissionRequest, Admissions } from '../../../src/gateway/admission.ts';
import { built } from '../built.ts';
import { compare, type Row } from '../measure.ts';

const CALLERS = 64;
const ALONE = 100;
const EACH = 20;

/** Reservations through the gateway's admissions and a real store: each is durable when its promise resolves. */
export async function ledgerCases(scratch: string, rounds: number): Promise<readonly Row[]> {
  const store = await (await built.store()).openSqliteStore({ path: path.join(scratch, 'ledger.db'), nowMs: 1 });
  try {
    const clock = { now: Date.now };
    const journal = (await built.journal()).createJournal(store, () => undefined);
    const days = (await built.dayWindow()).createDayWindow(store, clock);
    const admissions = (await built.admission()).createAdmissions({ store, journal, clock, days });
    return [
      await compare({
        name: '64 concurrent durable reservations of one role',
        rounds,
        aim: { atLeast: 20 },
        baseline: { what: 'one caller', unit: '/s', once: () => ratePerSecond(admissions, 1, ALONE) },
        measured: { what: '64 callers', unit: '/s', once: () => ratePerSecond(admissions, CALLERS, EACH) },
      }),
    ];
  } finally {
    await store.close();
  }
}

async function ratePerSecond(admissions: Admissions, callers: number, each: number): Promise<number> {
  const start = performance.now();
  await Promise.all(Array.from({ length: callers }, (_, caller) => reserve(admissions, caller, each)));
  return (callers * each * 1000) / (performance.now() - start);
}

async function reserve(admissions: Admissions, caller: number, each: number): Promise<void> {
  const { signal } = new AbortController();
  for (let n = 0; n < each; n += 1) {
    const outcome = await admissions.admit(requestOf(caller), signal);
    if (outcome.kind !== 'admitted') throw new Error(`a reservation was ${outcome.kind}`);
  }
}

function requestOf(caller: number): AdmissionRequest {
  const task = `T${caller}` as TaskId;
  return {
    id: randomUUID(),
    protocol: 'anthropic',
    demand: { input: 900, outputCap: 4096, minOutputCap: 1024, choices: 1 },
    grant: {
      agent: `r-1/${task}/coder#1` as AgentId,
      run: 'r-1' as RunId,
      task,
      role: 'coder' as RoleName,
      attempt: 1,
      protocol: 'anthropic',
      model: 'model-a',
      key: 'sk-bench-0123456789',
      cacheReadWeight: 0.1,
      scopes: (day) => [
        { id: `task:r-1/${task}/coder`, limit: 1e12, label: 'task' },
        { id: 'run:r-1', limit: 1e12, label: 'run' },
        { id: `day:${day}`, limit: 1e12, label: 'day' },
        { id: `day-role:${day}/coder`, limit: 'unlimited', label: 'day of the role' },
      ],
    },
  };
}
