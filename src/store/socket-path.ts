import { lstatSync, mkdirSync } from 'node:fs';
import { userInfo } from 'node:os';
import { isAbsolute, join } from 'node:path';
import { OrchestratorError } from '../domain/errors.ts';

/**
 * The directory of a state directory's sockets: itself, or one in the runtime directory when a socket's path would be
 * longer than the kernel takes (108 bytes on Linux, 104 on macOS). `create` makes it, private, when it is elsewhere.
 */
export function socketPathFor(
  stateDirectory: string,
  environment: Readonly<Record<string, string | undefined>>,
): { readonly directory: string; create(): void } {
  if (fits(stateDirectory)) return { directory: stateDirectory, create: () => undefined };
  // Loaded only here: most commands of the client never come this far, and it takes them 3 ms.
  const { createHash } = process.getBuiltinModule('node:crypto');
  const name = createHash('sha256').update(stateDirectory).digest('hex').slice(0, 16);
  const uid = userInfo().uid;
  const runtime = environment['XDG_RUNTIME_DIR'];
  const parents = runtime !== undefined && isAbsolute(runtime) ? [join(runtime, 'orchestrator')] : [];
  const parent =
    [...parents, `/tmp/orchestrator-${uid}`].find((path) => fits(join(path, name))) ?? `/tmp/orchestrator-${uid}`;
  const directory = join(parent, name);
  return {
    directory,
    create() {
      for (const path of [parent, directory]) {
        mkdirSync(path, { recursive: true, mode: 0o700 });
        refuseForeign(path, uid);
      }
    },
  };
}

const MAX_SOCKET_PATH_BYTES = 100;

function fits(directory: string): boolean {
  return Buffer.byteLength(join(directory, 'gateway', 'gateway.sock')) <= MAX_SOCKET_PATH_BYTES;
}

/** In a shared /tmp somebody else may have made the directory first. */
function refuseForeign(path: string, uid: number): void {
  const stat = lstatSync(path);
  if (stat.isDirectory() && stat.uid === uid && (stat.mode & 0o077) === 0) return;
  throw new OrchestratorError(
    'configuration',
    `${path} should be a directory of yours with mode 0700; remove it, or set XDG_RUNTIME_DIR to a private directory.`,
  );
}
