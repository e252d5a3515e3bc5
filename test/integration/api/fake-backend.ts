import type { Backend, Digest, Report, RunResult, Status } from '../../../src/api/backend.ts';
import type { Checkpoint } from '../../../src/domain/checkpoint.ts';
import type { CheckpointId, ObjectId, RunId } from '../../../src/domain/ids.ts';
import type { RepoPath } from '../../../src/domain/path.ts';

export const RUN = 'r-20261130-101500-k3f9';
export const NOW = Date.UTC(2026, 10, 30, 10, 15);

/** Answers everything with the smallest honest value and remembers what it was asked; tests override methods. */
export function fakeBackend(overrides: Partial<Backend> = {}): Backend & { readonly calls: [string, unknown][] } {
  const calls: [string, unknown][] = [];
  const canned: Backend = {
    status: async () => STATUS,
    run: async () => ({ run: RUN, target: `orchestrator/${RUN}`, notes: ['uncommitted changes are left out'] }),
    runs: async () => [{ id: RUN, state: 'running', request: 'do it', target: `orchestrator/${RUN}`, createdAt: NOW }],
    showRun: async (id) => (id === RUN ? runResult() : undefined),
    cancel: async () => undefined,
    retry: async () => undefined,
    resume: async () => undefined,
    checkpoints: async () => [checkpoint()],
    showCheckpoint: async (id) => (id === 'c-aaaaaa' ? checkpoint() : undefined),
    approve: async ({ id }) => ({ id, state: 'approved', message: 'the tasks start' }),
    reject: async ({ id }) => ({ id, state: 'rejected', message: 'the run is rejected' }),
    report: async () => REPORT,
    violations: async () => [],
    conflicts: async () => [],
    restore: async ({ path }) => ({ message: `restored ${path}` }),
    policyReload: async () => ({ digest: 'a'.repeat(64), warnings: ['coder: lib/** matches nothing'] }),
    land: async () => ({ message: 'main is now at 1234567', commit: '1'.repeat(40) }),
    gc: async () => ({ message: '3 snapshots', bytes: 2048 }),
    waitRun: async () => runResult(),
    events: async () => [],
    digest: async () => DIGEST,
    doctor: async () => [],
    stop: async () => undefined,
  };
  const backend = { ...canned, ...overrides };
  const recorded = Object.entries(backend).map(([name, method]) => [
    name,
    (...given: unknown[]) => {
      calls.push([name, given[0]]);
      return (method as (...given: unknown[]) => unknown).apply(backend, given);
    },
  ]);
  return { ...(Object.fromEntries(recorded) as Backend), calls };
}

export function checkpoint(changes: Partial<Checkpoint> = {}): Checkpoint {
  return {
    id: 'c-aaaaaa' as CheckpointId,
    kind: 'plan',
    state: 'pending',
    run: RUN as RunId,
    summary: 'planner proposes 2 tasks',
    body: 'T1 slugify keeps digits',
    findings: [],
    binding: {
      action: 'plan',
      content: 'c0ffee',
      targetCommit: '0'.repeat(40) as ObjectId,
      policyDigest: 'd'.repeat(64),
      paths: ['src/slug.py' as RepoPath],
      nonce: 'n1',
    },
    digest: 'e'.repeat(64),
    payload: {},
    createdAt: NOW,
    ...changes,
  };
}

export function runResult(changes: Partial<RunResult> = {}): RunResult {
  return {
    run: RUN,
    state: 'running',
    request: 'do it',
    reason: null,
    tasks: [
      {
        id: 'T1',
        title: 'slugify keeps digits',
        state: 'running',
        reason: null,
        steps: [{ role: 'coder', attempt: 1, state: 'running', tokens: 1234 }],
      },
    ],
    target: `orchestrator/${RUN}`,
    commit: null,
    checkpoints: [],
    ...changes,
  };
}

export const STATUS: Status = {
  daemon: {
    pid: 1,
    version: '0.1.0',
    since: NOW,
    socket: '/state/daemon.sock',
    gatewayUrl: 'http://127.0.0.1:4000',
    sandbox: 'bwrap',
    warnings: ['the key comes from the process environment'],
  },
  roles: [
    {
      role: 'coder',
      runner: 'builtin',
      model: 'm-1',
      keyTail: '…abcd',
      budget: { used: 1234, held: 0, limit: 200_000, window: 'day' },
    },
  ],
  runs: [{ id: RUN, state: 'running', request: 'do it' }],
  checkpoints: 1,
  watcher: { mode: 'events', trees: 1, lastEventAt: null },
  disk: { workspacesBytes: 1024, storeBytes: 2048 },
  conflicts: [],
};

const ROW = {
  key: 'coder',
  requests: 2,
  input: 100,
  cacheWrite: 0,
  cacheRead: 10,
  output: 20,
  reasoning: 0,
  workTokens: 121,
  usd: null,
  unpriced: 2,
  estimated: 0,
  forfeit: 0,
};
const REPORT: Report = { by: 'role', rows: [ROW], total: { ...ROW, key: 'total' }, notes: [] };

const DIGEST: Digest = {
  since: 0,
  ended: [],
  running: [{ id: RUN, state: 'running', request: 'do it' }],
  waiting: [{ id: 'c-aaaaaa', kind: 'plan', run: RUN, summary: 'planner proposes 2 tasks', createdAt: NOW }],
  spentWorkTokens: 121,
  spentUsd: null,
  diskBytes: 3072,
  nextCommand: 'orchestrator review',
};
