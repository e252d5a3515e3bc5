import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { openToolbox } from './agents/builtin/open-toolbox.ts';
import { builtinRunner } from './agents/builtin/run-builtin.ts';
import { openCheckpoints } from './checkpoints/open.ts';
import { checkKeys, checkRepository } from './daemon-preconditions.ts';
import { gitVersion, prefixed, toolchains, worktreeOf } from './daemon-surroundings.ts';
import { messageOf } from './domain/errors.ts';
import type { Clock, RandomText, TaskId } from './domain/ids.ts';
import { openGate } from './gate/open.ts';
import type { Preflight } from './gateway/preflight/preflight.ts';
import { cataloguePrice } from './gateway/prices.ts';
import { recoverCalls } from './gateway/recover-calls.ts';
import { startGateway } from './gateway/start-gateway.ts';
import { requireGitVersion } from './git/start-check.ts';
import { openStoreGit } from './git/store-git.ts';
import { openUserRepository } from './git/user-repository.ts';
import { openSandbox } from './sandbox/open-sandbox.ts';
import { watchCheckout } from './scheduler/checkout-watch.ts';
import { isKnown, openConflict } from './scheduler/conflicts.ts';
import type { Dispatcher } from './scheduler/dispatcher.ts';
import type { Engine, Log } from './scheduler/engine.ts';
import { isIndependent } from './scheduler/independent.ts';
import { openLiveTrees } from './scheduler/live.ts';
import { createLookouts } from './scheduler/lookouts.ts';
import { openPolicyBook } from './scheduler/policy-book.ts';
import { readRun } from './scheduler/records.ts';
import { createRunClock } from './scheduler/run-clock.ts';
import { openSqliteStore } from './store/sqlite/open.ts';
import type { StateDirectory } from './store/state-directory.ts';
import { startWatcher } from './watch/start-watcher.ts';
import type { WatchedTree } from './watch/watch.ts';
import { openWorkspacePool } from './workspace/pool.ts';

export interface EngineOptions {
  readonly repository: string;
  readonly paths: StateDirectory;
  readonly log: Log;
  readonly version: string;
  readonly readVariables: () => ReadonlyMap<string, string>;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly homeDirectory: string;
  readonly execPath: string;
  readonly nodeVersion: string;
  readonly packageRoot: string;
  readonly clock: Clock;
  readonly random: RandomText;
  readonly progress: (text: string) => void;
}

export interface BuiltEngine {
  readonly engine: Engine;
  readonly preflight: Preflight;
  readonly warnings: readonly string[];
  /** The parts that need the dispatcher get it here. */
  connect(dispatcher: Dispatcher): void;
  /** Stops the parts in reverse order. */
  stop(): Promise<void>;
}

/** Builds the adapters and starts the parts in order. Throws `configuration` for what the user has to change. */
export async function buildEngine(options: EngineOptions): Promise<BuiltEngine> {
  const { paths, log, clock, random, environment } = options;
  const searchPath = environment['PATH'] ?? '/usr/bin:/bin';
  const installedGit = gitVersion(searchPath);
  requireGitVersion(installedGit);
  const user = await openUserRepository(options.repository, { environment, clock });
  await checkRepository(user);
  options.progress('opening the object store');
  const git = await openStoreGit({ directory: paths.store, userObjects: user.objectsDirectory, searchPath, clock });
  const policies = openPolicyBook({
    directory: path.join(user.root, 'policies'),
    copy: paths.policiesBackup,
    runs: paths.runs,
    git,
    foldCase: false,
    environment: prefixed(environment, 'ORCHESTRATOR_'),
    readVariables: options.readVariables,
  });
  const set = policies.active();
  checkKeys(set, options.readVariables(), paths.env);
  options.progress('proving the sandbox');
  mkdirSync(path.join(paths.directory, 'probe'), { recursive: true, mode: 0o700 });
  const proving = openSandbox({
    mode: set.global.sandbox.mode,
    probeDirectory: path.join(paths.directory, 'probe'),
    environment,
    log: { info: (message) => log.info({}, message), warn: (message) => log.warn({}, message) },
  });
  // It is other processes that do the proving; its failure is told where it is awaited.
  proving.catch(() => undefined);
  const store = await openSqliteStore({ path: paths.db, nowMs: clock.now() });
  const recovered = await recoverCalls(store, { clock, prices: cataloguePrice });
  if (recovered.forfeit + recovered.released > 0)
    log.warn({ ...recovered }, 'calls of a daemon that died were settled');
  const pool = await openWorkspacePool({
    directory: paths.workspaces,
    slots: set.global.workspace.slots,
    store: git,
    clock,
    searchPath,
    stagingFor: (run) => path.join(paths.runs, run, 'staging'),
    isNever: (candidate) => neverDecider?.isNever(candidate) ?? false,
    ignoreBaseTree: async (run) => readRun(store, run)?.run.manifest.baseTree,
    ...((await user.isShallow()) ? { shallowFile: path.join(user.commonDirectory, 'shallow') } : {}),
  });
  const neverDecider = await policies.decider(set, await git.treeOf((await user.head()).commit));
  const upstream = set.global.gateway;
  const gateway = await startGateway({
    store,
    clock,
    random,
    prices: cataloguePrice,
    socketPath: paths.gatewaySocket,
    log,
    upstream: {
      baseUrl: upstream.baseUrl ?? '',
      pathStyle: upstream.pathStyle,
      retry: upstream.retry,
      requestTimeoutMs: upstream.requestTimeoutMs,
      maxInFlightPerKey: upstream.maxInFlightPerKey,
    },
    onEvent: (event) => log.info({ ...event.data }, event.type),
  });
  const checkpoints = openCheckpoints({ store, clock, random });
  const gate = openGate({
    store,
    git,
    user,
    clock,
    random,
    deciderFor: async (candidate) => policies.decider(policies.active(), await git.treeOf(candidate.baseCommit)),
  });
  let dispatcher: Dispatcher | undefined;
  let checkout: ReturnType<typeof watchCheckout> | undefined;
  const lookouts = createLookouts(clock, log);
  const alarm = (tree: WatchedTree): void => {
    if (tree.kind === 'workspace') lookouts.alarm(tree.root);
    else
      checkout
        ?.look()
        .catch((error: unknown) => log.warn({ error: messageOf(error) }, 'looking at the checkout failed'));
  };
  const watcher = startWatcher({
    clock,
    listener: {
      onChange: alarm,
      onReconcile: alarm,
      onDegraded: (reason) => log.warn({ reason }, 'watches ran out: polling'),
    },
  });
  const live = openLiveTrees({
    git,
    isIndependent: (run, first, second) => isIndependent(store, run, first, second),
    async onOverlap(overlap) {
      const record = readRun(store, overlap.run);
      if (record === undefined || isKnown(engine, overlap.run, overlap.tasks)) return;
      await openConflict(engine, {
        run: record.run,
        paths: overlap.paths,
        tasks: overlap.tasks,
        kind: overlap.kind,
        roles: overlap.roles,
      });
      const later = overlap.tasks[1] as TaskId;
      // Not awaited: the later task may be the one whose turn is ending right now.
      void dispatcher?.interrupt({ run: overlap.run, task: later }, 'conflict');
    },
  });
  const lang = environment['LANG'] ?? 'C.UTF-8';
  const sandbox = await proving;
  const workClock: Clock = { now: () => performance.timeOrigin + performance.now() };
  const engine: Engine = {
    store,
    git,
    user,
    pool,
    sandbox,
    gateway,
    checkpoints,
    gate,
    watcher,
    policies,
    clock,
    workClock,
    runClock: createRunClock(workClock),
    random,
    log,
    live,
    lookouts,
    runners: {
      builtin: builtinRunner({
        clock: workClock,
        log,
        openToolbox: (assignment) =>
          openToolbox({
            assignment,
            environment: { path: searchPath, lang },
            generatedSources: policies.active().global.generated.sources,
          }),
      }),
    },
    paths: {
      state: paths.directory,
      runs: paths.runs,
      homes: paths.homes,
      notesBackup: paths.notesBackup,
      policies: paths.policiesBackup,
    },
    toolchains: toolchains(options, git, searchPath),
    hidden: [...new Set([user.root, worktreeOf(user), paths.directory, options.homeDirectory])],
    userEnvironment: environment,
    commandEnvironment: { PATH: searchPath, LANG: lang, TERM: 'dumb' },
    versions: { orchestrator: options.version, node: options.nodeVersion, git: installedGit },
  };
  checkout = watchCheckout(engine);
  options.progress('watching the checkout');
  await Promise.all([watcher.add({ root: user.root, kind: 'checkout' }), checkout.look()]);
  return {
    engine,
    preflight: gateway.preflight,
    warnings: [
      ...set.warnings.map((warning) => `${warning.file}:${warning.line}: ${warning.message}`),
      ...(sandbox.probe.warning === undefined ? [] : [sandbox.probe.warning]),
    ],
    connect(given) {
      dispatcher = given;
    },
    async stop() {
      await watcher.stop();
      await gateway.stop();
      await store.close();
    },
  };
}
