import path from 'node:path';
import type { RepoPath } from '../../../src/domain/path.ts';
import { built } from '../built.ts';
import { command, type Place } from '../commands.ts';
import { median, type Row, single } from '../measure.ts';

/** Decisions of the compiled policy over every path of the tree, for every role. */
export async function policyCases(place: Place, rounds: number): Promise<readonly Row[]> {
  const { loadPolicySet } = await built.policies();
  const names = ['PLANNER', 'CODER', 'TEST', 'REVIEWER'].flatMap((role) => [`ORCH_KEY_${role}`, `ORCH_MODEL_${role}`]);
  const variables = new Map([...names, 'ORCH_BASE_URL'].map((name) => [name, 'http://127.0.0.1']));
  const loaded = loadPolicySet({ directory: path.join(place.cwd, 'policies'), variables });
  if (!loaded.ok) throw new Error(JSON.stringify(loaded.problems));
  const { compileDecider } = await built.decide();
  const decider = compileDecider(loaded.set, new Set());
  const paths = (await command(place, 'git', ['ls-files', '-z']))
    .split('\0')
    .filter((name) => name !== '') as RepoPath[];
  const roles = [...loaded.set.roles.keys()];
  const samples: number[] = [];
  for (let round = 0; round <= rounds; round += 1) {
    const start = performance.now();
    for (const role of roles) for (const name of paths) decider.decide(role, 'modify', name);
    if (round > 0) samples.push((roles.length * paths.length * 1000) / (performance.now() - start));
  }
  const figure = { what: `${roles.length} roles × ${paths.length} paths`, unit: '/s', median: median(samples) };
  return [single({ name: 'policy decisions', figure, rounds })];
}
