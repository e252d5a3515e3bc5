import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

/** A process of the benchmark's own that answers questions one at a time. */
export interface Child {
  ask<Answer>(question: unknown): Promise<Answer>;
  /** The next message that nobody asked for. */
  hear<Told>(): Promise<Told>;
  stop(): Promise<void>;
}

/** Starts `children/<name>.ts`; resolves with what it tells first, when it is ready. */
export async function startChild<Told>(name: string, args: readonly string[]): Promise<{ child: Child; told: Told }> {
  const file = fileURLToPath(new URL(`./children/${name}.ts`, import.meta.url));
  const process = fork(file, [...args], { execArgv: ['--disable-warning=ExperimentalWarning'] });
  const exited = once(process, 'exit');
  const hear = async <Told>(): Promise<Told> => {
    const [told] = await Promise.race([
      once(process, 'message'),
      exited.then(() => {
        throw new Error(`${name} ended`);
      }),
    ]);
    return told as Told;
  };
  const told = await hear<Told>();
  const child: Child = {
    hear,
    ask: async <Answer>(question: unknown): Promise<Answer> => {
      const answer = hear<Answer>();
      process.send(question as object);
      return answer;
    },
    stop: async () => {
      process.disconnect();
      await exited;
    },
  };
  return { child, told };
}
