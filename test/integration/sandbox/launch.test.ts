import { execFileSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openSandbox } from '../../../src/sandbox/open-sandbox.ts';
import { readProcess } from '../../../src/sandbox/process-identity.ts';
import type { Sandbox } from '../../../src/sandbox/sandbox.ts';
import { toolchainPaths } from '../../../src/sandbox/toolchain.ts';
import { buildWorld, runIn, SECRET, type World } from './world.ts';

const log = { info: () => undefined, warn: () => undefined };
const options = { probeDirectory: tmpdir(), environment: process.env, log };
// Without bubblewrap these fail on Linux: a missing package must not look like a pass.
const isLinux = process.platform === 'linux';

let world: World;
beforeEach(async () => {
  world = await buildWorld(tmpdir());
});
afterEach(() => world.stop());

/** Writes a growing file until it is ended (or 20 s have passed). */
const BEAT = 'for i in $(seq 400); do echo . >> beat; sleep 0.05; done';

async function beats(): Promise<number> {
  const file = path.join(world.view.tree, 'beat');
  return existsSync(file) ? readFileSync(file).length : 0;
}

async function waitForBeat(): Promise<void> {
  const deadline = Date.now() + 10_000;
  while ((await beats()) < 4 && Date.now() < deadline) await delay(20);
  expect(await beats()).toBeGreaterThanOrEqual(4);
}

async function expectSilence(): Promise<void> {
  const before = await beats();
  await delay(300);
  expect(await beats()).toBe(before);
}

function launch(sandbox: Sandbox, script: string, env: Record<string, string> = {}) {
  const launched = sandbox.launch(world.view, {
    argv: ['/bin/bash', '-c', script],
    cwd: world.view.tree,
    env: { PATH: '/usr/bin:/bin', ...env },
    network: 'none',
  });
  launched.stdout.resume();
  return { launched, errors: text(launched.stderr) };
}

describe.skipIf(!isLinux)('bwrap', () => {
  let sandbox: Sandbox;
  beforeEach(async () => {
    sandbox = await openSandbox({ ...options, mode: 'kernel' });
  });

  it.each([
    ['the command itself', BEAT],
    ['a child in the background', `(${BEAT}) & sleep 30`],
    ['a child that left the session', `setsid bash -c '${BEAT}' & sleep 30`],
    [
      'an orphan without environment in its own session',
      `(setsid env -i /bin/bash -c 'PATH=/bin; ${BEAT}' &) ; sleep 30`,
    ],
  ])('end() ends %s and proves it', async (_name, script) => {
    const { launched } = launch(sandbox, script);
    await waitForBeat();
    expect(await launched.end()).toMatchObject({ dead: true, evidence: expect.stringContaining('PID namespace') });
    await expectSilence();
    expect(readProcess(launched.pid)).toBeUndefined();
  });

  it('leaves nobody behind when the command ends by itself', async () => {
    const { launched } = launch(sandbox, `(setsid bash -c '${BEAT}' &); sleep 0.5; exit 3`);
    await waitForBeat();
    expect(await launched.exited).toEqual({ code: 3, signal: null });
    expect(await launched.end()).toMatchObject({ dead: true });
    await expectSilence();
  });

  it('gives exactly the environment', async () => {
    const env = { ONLY: 'this', PATH: '/usr/bin' };
    const argv = [process.execPath, '-p', 'JSON.stringify(process.env)'] as const;
    const ran = await runIn(sandbox, world.view, '', { argv, env });
    // PWD is what bwrap says about the directory it was told to start in.
    expect(JSON.parse(ran.output)).toEqual({ ...env, PWD: world.view.tree });
  });

  it('hands standard input through, and no descriptor that the daemon has inherited', async () => {
    const script = `
      import { openSandbox } from ${JSON.stringify(path.resolve('src/sandbox/open-sandbox.ts'))};
      const log = { info() {}, warn() {} };
      const sandbox = await openSandbox({ mode: process.argv[2], probeDirectory: '/tmp', environment: {}, log });
      const argv = ['/bin/bash', '-c', 'cat; cat <&99'];
      const launched = sandbox.launch(JSON.parse(process.argv[3]), { argv, cwd: '/', env: {}, network: 'none' });
      launched.stdin.end('through ');
      launched.stdout.pipe(process.stdout);
      await launched.exited;
      await launched.end();`;
    const file = path.join(world.root, 'launch.ts');
    writeFileSync(file, script);
    const view = JSON.stringify(world.view);
    const run = (command: string) => {
      const wrapped = `exec 99< ${world.files.key}; ${command}`;
      const env = { VIEW: view, FILE: file, NODE: process.execPath };
      return execFileSync('/bin/bash', ['-c', wrapped], { env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
    };
    expect(run('"$NODE" "$FILE" kernel "$VIEW"')).toBe('through ');
    expect(run('"$NODE" "$FILE" detect-only "$VIEW"')).toBe('through ');
    // Without that care node passes it on.
    const naive = 'require("node:child_process").spawnSync("/bin/cat", ["/dev/fd/99"], { stdio: "inherit" })';
    expect(run(`"$NODE" -e '${naive}'`)).toBe(SECRET);
  });

  it('says clearly that nothing was run when the command is missing', async () => {
    const ran = await runIn(sandbox, world.view, '', { argv: ['/nowhere/agent'] });
    expect(ran.code).not.toBe(0);
    expect(ran.errors).toMatch(/execvp \/nowhere\/agent[\s\S]*nothing was run outside of it/);
  });

  it('does not blame the sandbox for a command that fails', async () => {
    const ran = await runIn(sandbox, world.view, 'echo own error >&2; exit 1');
    expect(ran).toEqual({ code: 1, output: '', errors: 'own error\n' });
  });

  it('refuses a tree that is a link, before anything is started', async () => {
    const link = path.join(world.root, 'link');
    symlinkSync(world.files.checkout, link);
    expect(() => sandbox.launch({ ...world.view, tree: link }, LAUNCH)).toThrow(/resolves to .*checkout/);
    await expect(runIn(sandbox, world.view, 'echo works')).resolves.toMatchObject({ output: 'works\n' });
  });

  it('does not bind a denied directory that has become a link', async () => {
    rmSync(path.dirname(world.files.denied), { recursive: true });
    symlinkSync(world.files.checkout, path.dirname(world.files.denied));
    const ran = await runIn(sandbox, world.view, 'cat denied/prot.txt');
    expect(ran.output).toBe('');
  });

  it('reaches the network of the host only when the policy says host', async () => {
    const ask = `"$NODE" -e 'require("node:net").connect(${world.port}, "127.0.0.1").on("data", (d) => console.log(String(d))).on("error", (e) => console.log(e.code))'`;
    expect((await runIn(sandbox, world.view, ask, { network: 'host' })).output).toBe('hello\n');
    expect((await runIn(sandbox, world.view, ask)).output).toBe('ECONNREFUSED\n');
  });

  it('runs a virtual environment that lies below the hidden home, when its toolchain is brought back', async () => {
    const home = path.join(world.root, 'home');
    await runIn(
      await openSandbox({ ...options, mode: 'detect-only' }),
      world.view,
      `/usr/bin/python3 -m venv --without-pip ${home}/venv`,
    );
    const env = { PATH: `${home}/venv/bin:/usr/bin:/bin`, HOME: world.view.home };
    const script = 'python -c "import sys; print(sys.prefix)"; type -P python';
    const brought = toolchainPaths({ path: env.PATH, execPath: process.execPath, packageRoot: undefined, home });
    const view = { ...world.view, readOnly: [...world.view.readOnly, ...brought] };
    expect((await runIn(sandbox, view, script, { env })).output).toBe(`${home}/venv\n${home}/venv/bin/python\n`);
    expect((await runIn(sandbox, world.view, script, { env })).output).not.toContain(home);
    expect((await runIn(sandbox, view, `ls -A ${home}`, { env })).output).toBe('venv\n');
  });
});

const LAUNCH = { argv: ['/bin/true'], cwd: '/', env: {}, network: 'none' } as const;

describe('detect-only', () => {
  let sandbox: Sandbox;
  beforeEach(async () => {
    sandbox = await openSandbox({ ...options, mode: 'detect-only' });
  });

  it.each([
    ['the command itself', BEAT],
    ['a child that left the session', `setsid bash -c '${BEAT}' & sleep 30`],
    ['an orphan that left the session but carries the mark', `(setsid bash -c '${BEAT}' &) ; sleep 30`],
  ])('end() ends %s', async (_name, script) => {
    const { launched } = launch(sandbox, script, { ORCH_AGENT: `test-${path.basename(world.root)}` });
    await waitForBeat();
    await launched.end();
    await expectSilence();
    expect(readProcess(launched.pid)).toBeUndefined();
  });

  it('does not claim that an orphan without mark and session is dead', async () => {
    const mark = { ORCH_AGENT: `test-${path.basename(world.root)}` };
    const script = "(setsid env -i /bin/bash -c 'echo $$ > pid; exec /bin/sleep 20' &) ; sleep 0.3";
    const { launched } = launch(sandbox, script, mark);
    await launched.exited;
    const pid = Number(readFileSync(path.join(world.view.tree, 'pid'), 'utf8'));
    const ending = await launched.end();
    expect(ending).toMatchObject({ dead: false, evidence: expect.stringContaining(String(pid)) });
    process.kill(pid, 'SIGKILL');
  });

  it('ends several times and after the fact without harm', async () => {
    const { launched } = launch(sandbox, 'exit 0', { ORCH_AGENT: 'x' });
    expect(await launched.exited).toEqual({ code: 0, signal: null });
    await launched.end();
    await launched.end();
    expect(readProcess(launched.pid)).toBeUndefined();
  });
});

describe('openSandbox', () => {
  it.skipIf(!isLinux)('proves bwrap by real attempts and records what they answered', async () => {
    const { probe } = await openSandbox({ ...options, mode: 'auto' });
    expect(probe).toMatchObject({ mode: 'bwrap', proved: true });
    expect(probe.evidence.join('\n')).toMatch(
      /write outside[\s\S]*hidden file: ENOENT[\s\S]*TCP port outside: ECONNREFUSED/,
    );
    expect('warning' in probe).toBe(false);
  });

  describe('with a bwrap that does not hold', () => {
    let directory: string;
    beforeEach(() => {
      directory = realpathSync(mkdtempSync(path.join(tmpdir(), 'orch-sbx-fake-')));
      mkdirSync(path.join(directory, 'probe'));
    });
    afterEach(() => rmSync(directory, { recursive: true }));

    function fake(script: string): string {
      const file = path.join(directory, 'bwrap');
      writeFileSync(file, `#!/bin/bash\n${script}\n`, { mode: 0o755 });
      return file;
    }

    it.each([
      ['runs everything unconfined', 'while [ "$1" != "--" ]; do shift; done; shift; exec "$@"', /must not be/],
      ['can not make namespaces', 'echo "bwrap: No permissions to create new namespace" >&2; exit 1', /No permissions/],
    ])('that %s: auto falls to detect-only with a warning, kernel refuses', async (_name, script, reason) => {
      const bwrapPath = fake(script);
      const warnings: string[] = [];
      const broken = { ...options, probeDirectory: path.join(directory, 'probe'), bwrapPath };
      const logged = { info: () => undefined, warn: (message: string) => void warnings.push(message) };
      const { probe } = await openSandbox({ ...broken, log: logged, mode: 'auto' });
      expect(probe).toMatchObject({ mode: 'detect-only', proved: false });
      expect(probe.warning).toContain('nothing is prevented');
      expect(probe.evidence.join('\n')).toMatch(reason);
      expect(warnings).toHaveLength(1);
      await expect(openSandbox({ ...broken, mode: 'kernel' })).rejects.toMatchObject({ code: 'configuration' });
    });
  });
});
