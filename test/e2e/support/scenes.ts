import type { Reply, Script } from '../../../src/cli/demo/script.ts';
import { tableScript } from '../../../src/cli/demo/script.ts';
import type { CheckpointRow, Stage } from './stage.ts';

type Table = Readonly<Record<string, readonly Reply[]>>;

/** One model for several runs: the scene whose name stands in the request answers it. */
export function scenes(tables: Readonly<Record<string, Table>>): { script: Script; seen: string[] } {
  const scripts = Object.entries(tables).map(([name, table]) => ({ name, script: tableScript(table) }));
  const seen: string[] = [];
  const script: Script = (request) => {
    const first = request.messages[0]?.text ?? '';
    seen.push(JSON.stringify(request.messages));
    const scene = scripts.find(({ name }) => first.includes(name));
    if (scene === undefined) throw new Error(`no scene for ${first.slice(0, 200)}`);
    return scene.script(request);
  };
  return { script, seen };
}

/** Changes lines of `policies/<file>`; a pattern that is not there fails the test. */
export async function configure(
  stage: Stage,
  file: string,
  changes: readonly (readonly [RegExp | string, string])[],
): Promise<void> {
  await stage.edit(`policies/${file}`, (text) =>
    changes.reduce((before, [pattern, replacement]) => {
      const after = before.replace(pattern, replacement);
      if (after === before) throw new Error(`${file} has no ${pattern}`);
      return after;
    }, text),
  );
}

/** The boundary must hold by effect, not because a command was not on a list. */
export const ANY_COMMAND = [/allow: \[[^\]]*\]/, 'allow: ["**"]'] as const;

export interface ShownCheckpoint extends CheckpointRow {
  readonly state: string;
  readonly digest: string;
  readonly body: string;
  readonly diff: string | null;
  readonly findings: readonly { readonly kind: string; readonly text: string; readonly task?: string }[];
}

export function showCheckpoint(stage: Stage, id: string): Promise<ShownCheckpoint> {
  return stage.json<ShownCheckpoint>(['show', id]);
}
