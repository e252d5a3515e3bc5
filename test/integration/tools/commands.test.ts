import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openStep, type Step, type StepOptions } from './step.ts';

const opened: Step[] = [];
afterEach(async () => {
  for (const step of opened.splice(0)) await step.stop();
});

async function open(options: StepOptions = {}): Promise<Step> {
  const step = await openStep(options);
  opened.push(step);
  return step;
}

async function text(step: Step, tool: string, input: unknown): Promise<string> {
  const outcome = await step.call(tool, input);
  return outcome.kind === 'result' ? outcome.text : outcome.kind;
}

describe('run_command', () => {
  it('runs in the tree with a clean environment and answers output and exit code', async () => {
    const step = await open();
    const command =
      'pwd; echo "$HOME $TMPDIR $TERM"; env | cut -d= -f1 | sort | tr "\\n" " "; cat; echo err >&2; exit 3';
    const outcome = await step.call('run_command', { command });
    expect(outcome).toEqual({
      kind: 'result',
      isError: true,
      text:
        `${step.tree}\n${step.root}/home ${step.root}/scratch dumb\n` +
        'HOME LANG ORCH_AGENT PATH PWD PYTHONPYCACHEPREFIX SHLVL TERM TMPDIR _ err\n[exit code 3]',
    });
    expect(await step.call('run_command', { command: 'true' })).toMatchObject({
      isError: false,
      text: '[exit code 0]',
    });
  });

  it('keeps the byte code of Python out of the tree, so that none of an earlier tree is taken for current', async () => {
    const step = await open();
    writeFileSync(path.join(step.tree, 'fresh.py'), 'ONE = 1\n');
    const command = 'python3 -c "import fresh; print(fresh.ONE, fresh.__cached__)"';
    expect(await text(step, 'run_command', { command })).toContain(`1 ${step.root}/scratch/pycache/`);
    expect(existsSync(path.join(step.tree, '__pycache__'))).toBe(false);
  });

  it('cuts long output in the middle', async () => {
    const step = await open();
    const output = await text(step, 'run_command', { command: 'seq 100000' });
    expect(output.length).toBeLessThan(31_000);
    expect(output.startsWith('1\n2\n')).toBe(true);
    expect(output).toMatch(/bytes left out of 588895/);
    expect(output.endsWith('100000\n[exit code 0]')).toBe(true);
  });

  it('ends the whole group at the time limit, which a call can only shorten', async () => {
    const step = await open({ run: { timeoutMs: 700 } });
    const started = Date.now();
    const command = '(for i in $(seq 100); do echo . >> beat; sleep 0.05; done) & sleep 20';
    expect(await text(step, 'run_command', { command, timeout_seconds: 999 })).toContain('timed out after 0.7 s');
    expect(Date.now() - started).toBeLessThan(5000);
    const beats = readFileSync(path.join(step.tree, 'beat')).length;
    expect(beats).toBeGreaterThan(3);
    await delay(200);
    expect(readFileSync(path.join(step.tree, 'beat')).length).toBe(beats);
  });

  it('ends what a command leaves in the background', async () => {
    const step = await open();
    const command = '(for i in $(seq 100); do echo . >> beat; sleep 0.05; done) & sleep 0.3';
    expect(await text(step, 'run_command', { command })).toBe('[exit code 0]');
    const beats = readFileSync(path.join(step.tree, 'beat')).length;
    expect(beats).toBeGreaterThan(1);
    await delay(200);
    expect(readFileSync(path.join(step.tree, 'beat')).length).toBe(beats);
  });

  it('does not wait for a child that left the session and holds the output', async () => {
    const step = await open();
    const started = Date.now();
    expect(await text(step, 'run_command', { command: 'setsid sleep 20 & echo started' })).toContain('started');
    expect(Date.now() - started).toBeLessThan(5000);
  });

  it('stops when the step is interrupted', async () => {
    const step = await open();
    const controller = new AbortController();
    const call = { id: 'c', name: 'run_command', input: { command: 'echo begun > begun; sleep 20' } };
    const running = step.toolbox.execute(call, { turn: 1, signal: controller.signal });
    for (let tries = 0; tries < 100 && !existsSync(path.join(step.tree, 'begun')); tries += 1) await delay(20);
    controller.abort();
    expect(await running).toMatchObject({ isError: true, text: expect.stringContaining('cancelled') });
  });

  it('runs only what run.allow covers', async () => {
    const step = await open({ run: { allow: ['git status', 'echo **'] } });
    expect(await text(step, 'run_command', { command: 'echo a b' })).toBe('a b\n[exit code 0]');
    expect(await text(step, 'run_command', { command: 'touch x' })).toContain('Refused');
    expect(await text(step, 'run_command', { command: 'echo a; touch x' })).toContain('Refused');
    expect(step.host.commands).toEqual(['touch x', 'echo a; touch x']);
    expect(existsSync(path.join(step.tree, 'x'))).toBe(false);
  });
});

describe('the relay', () => {
  it('serves the gateway inside a view without network', async () => {
    const directory = mkdtempSync(path.join(tmpdir(), 'orch-tools-gw-'));
    const socketPath = path.join(directory, 'g.sock');
    const seen: string[] = [];
    const server = createServer((request, response) => {
      seen.push(`${request.method} ${request.url} ${request.headers.host}`);
      request.on('data', (chunk) => response.write(chunk));
      request.on('end', () => response.end('!'));
    });
    await new Promise<void>((resolve) => server.listen(socketPath, resolve));
    const port = 47_123;
    const script = `fetch('http://127.0.0.1:${port}/v1/messages', { method: 'POST', body: 'ping' }).then((r) => r.text()).then(console.log, (e) => console.log(e.cause.code))`;
    const command = `${process.execPath} -e "${script}"`;
    const step = await open({ gateway: { port, socketPath } });
    expect(await text(step, 'run_command', { command })).toBe('ping!\n[exit code 0]');
    expect(seen).toEqual([`POST /v1/messages 127.0.0.1:${port}`]);
    // On the host nobody listens there: it was the view's own loopback.
    expect(execFileSync(process.execPath, ['-e', script], { encoding: 'utf8' })).toBe('ECONNREFUSED\n');
    await new Promise((resolve) => server.close(resolve));
    rmSync(directory, { recursive: true });
  });
});

describe('list_files and search', () => {
  let bin: string;
  beforeEach(() => {
    bin = mkdtempSync(path.join(tmpdir(), 'orch-tools-bin-'));
  });
  afterEach(() => rmSync(bin, { recursive: true }));

  async function filled(options: StepOptions = {}): Promise<Step> {
    const step = await open(options);
    const git = (...args: string[]) => execFileSync('git', args, { cwd: step.tree, env: { PATH: '/usr/bin:/bin' } });
    const files = ['src/a.py', 'src/deep/b.py', '.github/c.yml', 'ignored/d.py', 'gone.py'];
    for (const file of files) {
      mkdirSync(path.dirname(path.join(step.tree, file)), { recursive: true });
      writeFileSync(path.join(step.tree, file), `first\nneedle in ${file}\n`);
    }
    writeFileSync(path.join(step.tree, '.gitignore'), 'ignored/\n');
    git('init', '-q');
    git('add', '-A');
    rmSync(path.join(step.tree, 'gone.py'));
    return step;
  }

  it('list tracked and new files, not ignored or deleted ones', async () => {
    const step = await filled();
    writeFileSync(path.join(step.tree, 'new.txt'), '');
    expect((await text(step, 'list_files', {})).split('\n')).toEqual([
      ...['.github/c.yml', '.gitignore', 'new.txt', 'src/a.py', 'src/deep/b.py'],
    ]);
    expect(await text(step, 'list_files', { glob: 'src/**' })).toBe('src/a.py\nsrc/deep/b.py');
    expect(await text(step, 'list_files', { glob: '*.{py,yml}' })).toBe('.github/c.yml\nsrc/a.py\nsrc/deep/b.py');
    expect(await text(step, 'list_files', { glob: 'none/**' })).toBe('No files match.');
  });

  it('list without git by walking', async () => {
    const step = await open({ programs: bin });
    mkdirSync(path.join(step.tree, '.git'));
    writeFileSync(path.join(step.tree, '.git/HEAD'), '');
    mkdirSync(path.join(step.tree, 'a'));
    writeFileSync(path.join(step.tree, 'a/b.py'), '');
    expect(await text(step, 'list_files', {})).toBe('a/b.py');
  });

  it.each(['rg', 'none'])('find lines the same way with ripgrep and without (%s)', async (program) => {
    symlinkSync('/usr/bin/git', path.join(bin, 'git'));
    if (program === 'rg') symlinkSync('/usr/bin/rg', path.join(bin, 'rg'));
    const step = await filled({ programs: bin });
    expect(await text(step, 'search', { pattern: 'need[l]e', glob: 'src/**' })).toBe(
      'src/a.py:2:needle in src/a.py\nsrc/deep/b.py:2:needle in src/deep/b.py',
    );
    expect(await text(step, 'search', { pattern: 'needle', glob: '*.yml' })).toBe(
      '.github/c.yml:2:needle in .github/c.yml',
    );
    expect(await text(step, 'search', { pattern: 'nowhere' })).toBe('No matches.');
    expect(await text(step, 'search', { pattern: '(' })).toContain('search failed');
  });
});
