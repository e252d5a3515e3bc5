/**
 * The process inside a view that acts for the built-in agent's tools. It knows no policy: the daemon judges, the view
 * confines. It ends with its standard input. Only node's built-ins and our own small files, so that it starts fast.
 */
import { answer } from './answer.ts';
import { onLines } from './json-lines.ts';
import type { Incoming, Outgoing, WorkerSettings } from './protocol.ts';
import { startRelay } from './relay.ts';

const settings = JSON.parse(process.argv[2] ?? '') as WorkerSettings;
if (settings.relay !== undefined) await startRelay(settings.relay);
serve();

function serve(): void {
  const running = new Map<number, AbortController>();
  onLines(process.stdin, {
    line: (line) => {
      const message = JSON.parse(line) as Outgoing;
      if ('cancel' in message) running.get(message.cancel)?.abort();
      else void reply(message, running);
    },
    end: () => process.exit(0),
  });
  send({ ready: true });
}

async function reply(message: Extract<Outgoing, { id: number }>, running: Map<number, AbortController>): Promise<void> {
  const controller = new AbortController();
  running.set(message.id, controller);
  try {
    send({ id: message.id, answer: await answer(settings, message.request, controller.signal) });
  } catch (error) {
    send({ id: message.id, failure: error instanceof Error ? error.message : String(error) });
  } finally {
    running.delete(message.id);
  }
}

function send(message: Incoming): void {
  process.stdout.write(`${JSON.stringify(message)}\n`);
}
