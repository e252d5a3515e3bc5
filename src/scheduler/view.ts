import { lstat, mkdir } from 'node:fs/promises';
import path from 'node:path';
import type { RoleName } from '../domain/ids.ts';
import type { RepoPath } from '../domain/path.ts';
import type { Decider } from '../policy/policy.ts';
import type { View } from '../sandbox/sandbox.ts';
import type { Workspace } from '../workspace/workspace.ts';
import type { Engine } from './engine.ts';

/**
 * The view of a role's processes: a function of policy, role, workspace and what a human granted, never of what an
 * agent asks for. A denied directory with a granted path in it is open, and judged by effect.
 */
export async function viewOf(
  engine: Engine,
  options: { role: RoleName; workspace: Workspace; decider: Decider; granted?: readonly RepoPath[] },
): Promise<View> {
  const home = path.join(engine.paths.homes, options.role);
  await mkdir(home, { recursive: true, mode: 0o700 });
  const denied: string[] = [];
  for (const directory of options.decider.staticDenyDirectories(options.role)) {
    if (options.granted?.some((path) => path.startsWith(`${directory}/`))) continue;
    if (await isRealDirectory(path.join(options.workspace.root, directory))) denied.push(directory);
  }
  return {
    tree: options.workspace.root,
    scratch: options.workspace.scratch,
    home,
    readOnly: [...engine.toolchains, ...engine.policies.active().global.sandbox.readOnly],
    denyDirectories: denied,
    hidden: engine.hidden,
    sockets: [engine.gateway.socketPath],
  };
}

async function isRealDirectory(directory: string): Promise<boolean> {
  return lstat(directory).then(
    (found) => found.isDirectory(),
    () => false,
  );
}
