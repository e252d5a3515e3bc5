// `npm run bench [-- --json] [--rounds N] [--only name,…]`: figures of the built package, see README.md.
import { cp, mkdtemp, rm } from 'node:fs/promises';
import { cpus, tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { clientCases } from './cases/client.ts';
import { gatewayCases } from './cases/gateway.ts';
import { ledgerCases } from './cases/ledger.ts';
import { policyCases } from './cases/policy.ts';
import { runCases } from './cases/run.ts';
import { watchCases } from './cases/watch.ts';
import { workspaceCases } from './cases/workspace.ts';
import { command, userEnvironment } from './commands.ts';
import { meets, type Row } from './measure.ts';
import { tableOf } from './print.ts';
import { openStage, type Stage } from './stage.ts';
import { commitTree, makeTree } from './tree.ts';

const GROUPS = ['workspace', 'policy', 'run', 'client', 'ledger', 'watch', 'gateway'] as const;
type Group = (typeof GROUPS)[number];

const { values } = parseArgs({
  options: {
    json: { type: 'boolean', default: false },
    rounds: { type: 'string', default: '9' },
    only: { type: 'string', default: GROUPS.join(',') },
  },
});

const wanted = new Set(values.only.split(','));
const rounds = Number(values.rounds);
const directory = await mkdtemp(path.join(tmpdir(), 'orch-bench-'));
try {
  const rows = await measureAll(directory);
  const machine = { node: process.version, cpus: cpus().length, rounds };
  if (values.json) process.stdout.write(`${JSON.stringify({ machine, rows: rows.map(withVerdict) }, null, 2)}\n`);
  else process.stdout.write(`${tableOf(rows)}\n`);
} finally {
  await rm(directory, { recursive: true, force: true });
}

async function measureAll(scratch: string): Promise<readonly Row[]> {
  const checkout = path.join(scratch, 'checkout');
  const place = { cwd: checkout, env: userEnvironment(path.join(scratch, 'state')) };
  await prepareCheckout(checkout, place.env);
  const stage = await openStage({ checkout, state: path.join(scratch, 'state') });
  const measure: Record<Group, () => Promise<readonly Row[]>> = {
    workspace: () => workspaceCases(place, path.join(scratch, 'workspace'), rounds),
    policy: () => policyCases(place, rounds),
    client: () => clientCases(stage, rounds),
    run: () => withDaemon(stage, () => runCases(stage, rounds)),
    ledger: () => ledgerCases(scratch, rounds),
    watch: async () => {
      const twin = path.join(scratch, 'twin');
      await cp(checkout, twin, { recursive: true });
      return watchCases([twin, checkout], rounds);
    },
    gateway: () => gatewayCases(path.join(scratch, 'gateway'), rounds),
  };
  const rows: Row[] = [];
  try {
    for (const group of GROUPS.filter((name) => wanted.has(name))) {
      process.stderr.write(`${group}…\n`);
      rows.push(...(await measure[group]()));
    }
  } finally {
    await stage.close();
  }
  return rows;
}

/** A clone of the checkout that `ORCH_BENCH_TREE` names, else the generated tree. */
async function prepareCheckout(checkout: string, env: Readonly<Record<string, string>>): Promise<void> {
  const given = process.env['ORCH_BENCH_TREE'];
  process.stderr.write(`preparing ${given ?? 'the generated tree'}…\n`);
  if (given === undefined) {
    await makeTree(checkout);
    await commitTree(checkout);
  } else {
    await command({ cwd: given, env }, 'git', ['clone', '-q', '--no-hardlinks', given, checkout]);
    await command({ cwd: checkout, env }, 'git', ['config', 'user.name', 'Ada Example']);
    await command({ cwd: checkout, env }, 'git', ['config', 'user.email', 'ada@example.invalid']);
  }
}

async function withDaemon<Result>(stage: Stage, use: () => Promise<Result>): Promise<Result> {
  await stage.cli('start');
  try {
    return await use();
  } finally {
    await stage.cli('stop', '--now');
  }
}

function withVerdict(row: Row): Row & { readonly met: boolean | undefined } {
  return { ...row, met: meets(row) };
}
