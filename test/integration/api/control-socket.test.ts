import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, lstatSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { getuid, umask } from 'node:process';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Backend } from '../../../src/api/backend.ts';
import { type ApiClient, connectApi } from '../../../src/api/client.ts';
import { startApiServer } from '../../../src/api/server.ts';
import { OrchestratorError } from '../../../src/domain/errors.ts';
import { checkpoint, fakeBackend, RUN } from './fake-backend.ts';

const uid = getuid?.() ?? 0;
let directory: string;
let socketPath: string;
let stops: (() => unknown)[];
let logged: string[];

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'orch-api-'));
  socketPath = join(directory, 'daemon.sock');
  stops = [];
  logged = [];
});

afterEach(async () => {
  for (const stop of stops.reverse()) await stop();
  rmSync(directory, { recursive: true, force: true });
});

async function serve(overrides: Partial<Backend> = {}) {
  const backend = fakeBackend(overrides);
  const server = await startApiServer({ socketPath, backend, log: (message) => logged.push(message) });
  stops.push(() => server.stop());
  return { backend, server };
}

async function client(signal?: AbortSignal): Promise<ApiClient> {
  const api = await connectApi(socketPath, signal === undefined ? { uid } : { uid, signal });
  stops.push(() => api.close());
  return api;
}

/** Sends raw lines and returns the first line that comes back. */
function exchange(text: string): Promise<Record<string, unknown>> {
  return new Promise((resolve, reject) => {
    const socket = connect(socketPath, () => socket.write(text));
    let received = '';
    socket.on('data', (chunk) => {
      received += chunk;
      if (!received.includes('\n')) return;
      socket.destroy();
      resolve(JSON.parse(received.split('\n', 1)[0] ?? ''));
    });
    socket.on('error', reject);
  });
}

describe('calls', () => {
  test('every kind of parameter and result crosses the wire', async () => {
    const { backend } = await serve();
    const api = await client();
    expect((await api.status()).daemon.sandbox).toBe('bwrap');
    expect(await api.showRun('r-unknown')).toBeUndefined();
    expect((await api.showRun(RUN))?.tasks[0]?.id).toBe('T1');
    expect(await api.checkpoints(true)).toEqual([checkpoint()]);
    expect(await api.cancel(RUN)).toBeUndefined();
    expect((await api.approve({ id: 'c-aaaaaa', tokens: 5, by: 'me' })).state).toBe('approved');
    await api.events({ afterSeq: 0, limit: 10, timeoutMs: 0, run: RUN });
    expect(backend.calls.map(([name]) => name)).toEqual([
      'status',
      'showRun',
      'showRun',
      'checkpoints',
      'cancel',
      'approve',
      'events',
    ]);
    expect(backend.calls[5]).toEqual(['approve', { id: 'c-aaaaaa', tokens: 5, by: 'me' }]);
  });

  test('calls of one connection run at the same time and are matched by id', async () => {
    let open: (() => void) | undefined;
    await serve({ runs: () => new Promise((resolve) => (open = () => resolve([]))) });
    const api = await client();
    const slow = api.runs();
    expect((await api.status()).checkpoints).toBe(1);
    open?.();
    expect(await slow).toEqual([]);
  });

  test('texts of several megabytes and non-ASCII survive', async () => {
    const diff = 'ä€😀\n'.repeat(400_000);
    await serve({ showCheckpoint: async () => checkpoint({ diff }) });
    const api = await client();
    expect((await api.showCheckpoint('c-aaaaaa'))?.diff).toBe(diff);
  });

  test('an error keeps its code, message and details', async () => {
    await serve({
      land: async () => {
        throw new OrchestratorError('refused', 'src/a.py is dirty', { details: ['commit it', 'or stash it'] });
      },
    });
    const api = await client();
    await expect(api.land({ run: RUN, directory, squash: false })).rejects.toMatchObject({
      code: 'refused',
      message: 'src/a.py is dirty',
      details: ['commit it', 'or stash it'],
    });
    expect(logged).toEqual([]);
  });

  test('a bug in the backend is `failed` for the client and a stack in the log', async () => {
    await serve({ gc: () => Promise.reject(new TypeError('x is not a function')) });
    const api = await client();
    await expect(api.gc({ dryRun: true })).rejects.toMatchObject({ code: 'failed', message: 'x is not a function' });
    expect(logged[0]).toMatch(/^gc: TypeError/);
  });

  test.each([
    ['not JSON', 'hello\n', 'usage', 0],
    ['unknown method', '{"id":7,"method":"exec"}\n', 'usage', 7],
    ['a method of every object', '{"id":7,"method":"constructor"}\n', 'usage', 7],
    ['unknown key', '{"id":7,"method":"gc","params":{"dryRun":true,"force":true}}\n', 'usage', 7],
    ['missing key', '{"id":7,"method":"gc","params":{}}\n', 'usage', 7],
    ['wrong type', '{"id":7,"method":"showRun","params":{"id":1}}\n', 'usage', 7],
    ['parameters where there are none', '{"id":7,"method":"status","params":1}\n', 'usage', 7],
    ['negative tokens', '{"id":7,"method":"approve","params":{"id":"c","by":"me","tokens":-1}}\n', 'usage', 7],
  ])('%s is refused before the backend sees it', async (_name, line, code, id) => {
    const { backend } = await serve();
    expect(await exchange(line)).toMatchObject({ id, error: { code } });
    expect(backend.calls).toEqual([]);
    // Positive control: the same road with a right request.
    expect(await exchange('{"id":8,"method":"gc","params":{"dryRun":true}}\n')).toMatchObject({
      id: 8,
      result: { bytes: 2048 },
    });
  });

  test('an endless request is cut off', async () => {
    const { backend } = await serve();
    expect(await exchange('x'.repeat(5 * 1024 * 1024))).toMatchObject({ error: { code: 'usage' } });
    expect(backend.calls).toEqual([]);
  });
});

describe('waiting', () => {
  /** A waitRun that waits until its signal is aborted, with promises for its beginning and its end. */
  function waiting() {
    const started = Promise.withResolvers<AbortSignal>();
    const ended = Promise.withResolvers<void>();
    const waitRun: Backend['waitRun'] = (_request, signal) =>
      new Promise((finish) => {
        if (signal === undefined) return;
        started.resolve(signal);
        signal.addEventListener('abort', () => {
          ended.resolve();
          finish({} as never);
        });
      });
    return { started: started.promise, ended: ended.promise, waitRun };
  }

  test('a long poll ends when its client disconnects', async () => {
    const poll = waiting();
    await serve({ waitRun: poll.waitRun });
    const api = await client();
    const answer = api.waitRun({ run: RUN, timeoutMs: 600_000 });
    expect((await poll.started).aborted).toBe(false);
    const refused = expect(answer).rejects.toMatchObject({ code: 'interrupted' });
    api.close();
    await poll.ended;
    await refused;
  });

  test("an abort of the client's signal ends its calls as interrupted", async () => {
    const poll = waiting();
    await serve({ waitRun: poll.waitRun });
    const interrupt = new AbortController();
    const api = await client(interrupt.signal);
    const answer = api.waitRun({ run: RUN, timeoutMs: 600_000 });
    await poll.started;
    interrupt.abort();
    await expect(answer).rejects.toMatchObject({ code: 'interrupted' });
    await poll.ended;
  });

  test('stop ends long polls, sends the answers that are under way and removes the socket', async () => {
    const poll = waiting();
    let backendStopped: (() => void) | undefined;
    const { server } = await serve({
      waitRun: poll.waitRun,
      stop: () => new Promise((resolve) => (backendStopped = resolve)),
    });
    const api = await client();
    const stopping = api.stop({ now: false });
    const polled = api.waitRun({ run: RUN, timeoutMs: 600_000 });
    await poll.started;
    const stopped = server.stop();
    await poll.ended;
    backendStopped?.();
    await stopped;
    expect(await stopping).toBeUndefined();
    expect(await polled).toEqual({});
    expect(existsSync(socketPath)).toBe(false);
    await expect(api.status()).rejects.toMatchObject({ code: 'no-daemon' });
  });
});

test('stop does not wait for a backend that never answers', async () => {
  const { server } = await serve({ runs: () => new Promise(() => undefined) });
  const api = await client();
  const lost = expect(api.runs()).rejects.toMatchObject({ code: 'no-daemon' });
  await api.status();
  await server.stop();
  await lost;
});

describe('who may talk', () => {
  test('the socket is 0600 from birth and the umask is put back', async () => {
    const before = umask();
    await serve();
    expect(umask()).toBe(before);
    expect((lstatSync(socketPath).mode & 0o777).toString(8)).toBe('600');
  });

  test('a directory that others can enter is refused by the server', async () => {
    chmodSync(directory, 0o755);
    await expect(serve()).rejects.toMatchObject({ code: 'configuration' });
    expect(existsSync(socketPath)).toBe(false);
    chmodSync(directory, 0o700);
    await serve();
  });

  test('a socket file that is there already is left alone', async () => {
    writeFileSync(socketPath, 'somebody');
    await expect(serve()).rejects.toMatchObject({ code: 'failed' });
    expect(existsSync(socketPath)).toBe(true);
  });

  test('nobody there: no-daemon, with the command that starts one', async () => {
    const missing = connectApi(socketPath, { uid });
    await expect(missing).rejects.toMatchObject({ code: 'no-daemon' });
    await expect(missing).rejects.toThrow('orchestrator start');
  });

  test('a stale socket file is nobody', async () => {
    const script = `require('node:net').createServer().listen(process.argv[1], () => process.kill(process.pid, 'SIGKILL'))`;
    spawnSync(process.execPath, ['-e', script, socketPath]);
    expect(existsSync(socketPath)).toBe(true);
    chmodSync(socketPath, 0o600);
    await expect(connectApi(socketPath, { uid })).rejects.toMatchObject({ code: 'no-daemon' });
  });

  test.each([
    ['open to others', () => chmodSync(socketPath, 0o666)],
    ['in a directory open to others', () => chmodSync(directory, 0o777)],
  ])('the client refuses a socket %s', async (_name, loosen) => {
    await serve();
    await client();
    loosen();
    await expect(connectApi(socketPath, { uid })).rejects.toMatchObject({ code: 'refused' });
  });

  test("the client refuses somebody else's socket, and a link", async () => {
    await serve();
    await expect(connectApi(socketPath, { uid: uid + 1 })).rejects.toMatchObject({ code: 'refused' });
    const other = join(directory, 'other');
    mkdirSync(other, { mode: 0o700 });
    symlinkSync(socketPath, join(other, 'daemon.sock'));
    await expect(connectApi(join(other, 'daemon.sock'), { uid })).rejects.toMatchObject({ code: 'refused' });
  });
});
