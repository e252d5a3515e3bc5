import { mkdtemp, readFile, realpath, rm } from 'node:fs/promises';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { type Arena, buildArena, UNTOUCHED } from './probe-arena.ts';
import type { LaunchOptions, SandboxedProcess, View } from './sandbox.ts';

export type Launch = (view: View, options: LaunchOptions) => SandboxedProcess;

/**
 * Tries what a view must forbid, for real: a write outside of the tree, a read of a hidden file, connections to a
 * listening TCP port and to a Unix socket outside. Proved only if each fails and the allowed write succeeds.
 * Throws when nothing could be run in the view at all.
 */
export async function tryForbidden(
  launch: Launch,
  setting: { directory: string; execPath: string; readOnly: readonly string[] },
): Promise<{ proved: boolean; evidence: readonly string[] }> {
  const root = await realpath(await mkdtemp(path.join(setting.directory, 'probe-')));
  try {
    const arena = await buildArena(root, setting.readOnly);
    try {
      const launched = launch(arena.view, {
        argv: [setting.execPath, '-e', ATTEMPTS, JSON.stringify(arena.targets)],
        cwd: arena.view.tree,
        env: {},
        network: 'none',
      });
      return await judge(await readOutcome(launched), arena);
    } finally {
      arena.stop();
    }
  } finally {
    await rm(root, { recursive: true, force: true });
  }
}

const TIMEOUT_MS = 20_000;

/** Each attempt answers with the code of its error, or `succeeded`. */
type Outcome = Readonly<Record<'allowed' | 'write' | 'read' | 'tcp' | 'unix', string>>;

async function readOutcome(launched: SandboxedProcess): Promise<Outcome> {
  const output = text(launched.stdout);
  const errors = text(launched.stderr);
  const giveUp = new AbortController();
  const late = delay(TIMEOUT_MS, undefined, { signal: giveUp.signal }).catch(() => undefined);
  await Promise.race([launched.exited, late]);
  giveUp.abort();
  const { dead, evidence } = await launched.end();
  if (!dead) throw new Error(`the processes of the view could not be ended: ${evidence}`);
  const answer = await output;
  if (answer === '') throw new Error(`nothing ran inside the view: ${(await errors).trim() || 'no answer in time'}`);
  return JSON.parse(answer) as Outcome;
}

async function judge(outcome: Outcome, arena: Arena): Promise<{ proved: boolean; evidence: readonly string[] }> {
  const allowed = await readFile(arena.targets.allowed, 'utf8').catch(() => undefined);
  const outside = await readFile(arena.targets.write, 'utf8');
  const findings = [
    { what: 'write in the tree', holds: allowed === 'written', answer: outcome.allowed },
    { what: 'write outside of the tree', holds: outside === UNTOUCHED, answer: writeAnswer(outcome.write, outside) },
    { what: 'read of a hidden file', holds: outcome.read !== 'succeeded', answer: outcome.read },
    { what: 'connection to a TCP port outside', holds: outcome.tcp !== 'succeeded', answer: outcome.tcp },
    { what: 'connection to a hidden Unix socket', holds: outcome.unix !== 'succeeded', answer: outcome.unix },
  ];
  return {
    proved: findings.every((one) => one.holds),
    evidence: findings.map((one) => `${one.what}: ${one.answer}${one.holds ? '' : ' (must not be)'}`),
  };
}

/** A write may succeed into an empty directory of the view's own: it is judged by its effect outside. */
function writeAnswer(code: string, outside: string): string {
  return code === 'succeeded' && outside === UNTOUCHED ? 'had no effect' : code;
}

const ATTEMPTS = `
const fs = require('node:fs'), net = require('node:net');
const targets = JSON.parse(process.argv[1]);
const attempt = (act) => { try { act(); return 'succeeded'; } catch (error) { return error.code; } };
const connect = (where) => new Promise((resolve) => {
  const socket = net.connect(where);
  socket.once('connect', () => { resolve('succeeded'); socket.destroy(); });
  socket.once('error', (error) => resolve(error.code));
});
(async () => {
  const outcome = {
    allowed: attempt(() => fs.writeFileSync(targets.allowed, 'written')),
    write: attempt(() => fs.writeFileSync(targets.write, 'escaped')),
    read: attempt(() => fs.readFileSync(targets.read)),
    tcp: await connect({ host: '127.0.0.1', port: targets.port }),
    unix: await connect({ path: targets.unix }),
  };
  process.stdout.write(JSON.stringify(outcome));
})();
`;
