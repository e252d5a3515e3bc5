import { existsSync, readdirSync, realpathSync, statSync } from 'node:fs';
import path from 'node:path';
import { OrchestratorError } from '../../domain/errors.ts';
import type { View } from '../sandbox.ts';
import type { Placement, Treatment } from './compile.ts';

/** Directories of this user and machine that every view hides; undefined or missing ones are skipped. */
export interface HostDirectories {
  readonly home: string | undefined;
  /** The home of the passwd entry: tools ask for it when HOME says something else. */
  readonly passwdHome: string | undefined;
  readonly runtime: string | undefined;
  readonly temporary: string | undefined;
}

/** Looks at the disk: canonical placements for whatever of a view exists. */
export function inspectView(view: View, host: HostDirectories): Placement[] {
  return [
    ...HIDDEN_DIRECTORIES.flatMap((hidden) => place(hidden, 'empty')),
    ...[host.home, host.passwdHome, host.runtime].flatMap((hidden) => place(hidden, 'empty')),
    ...['/tmp', '/var/tmp', host.temporary].flatMap((fresh) => place(fresh, 'fresh')),
    ...secretFiles().flatMap((file) => place(file, 'unreadable')),
    ...view.hidden.flatMap((hidden) => place(hidden, 'empty')),
    // Name resolution of a view with the host's network: often a link into the hidden /run.
    ...place('/etc/resolv.conf', 'read-only'),
    ...view.readOnly.flatMap(placeReadOnly),
    ...view.sockets.flatMap((socket) => place(socket, 'read-only')),
    ...[view.tree, view.scratch, view.home].flatMap(placeWritable),
    ...view.denyDirectories.flatMap((directory) => placeDenied(view.tree, directory)),
  ];
}

/** What is there of /proc that euid 0 may write without any capability (core_pattern runs programs outside). */
export function guardedProc(): string[] {
  return ['/proc/sys', '/proc/sysrq-trigger', '/proc/irq', '/proc/bus', '/proc/mtrr'].filter((entry) =>
    existsSync(entry),
  );
}

const HIDDEN_DIRECTORIES = [
  ...['/root', '/home', '/run', '/var/run', '/var/spool', '/var/mail'],
  ...['/var/lib/docker', '/var/lib/lxd', '/var/snap', '/var/lib/kubelet', '/var/lib/cloud', '/var/lib/sss'],
  ...['/etc/ssl/private', '/etc/NetworkManager/system-connections', '/etc/wireguard', '/etc/sudoers.d'],
];

function secretFiles(): string[] {
  const accounts = ['shadow', 'gshadow'].flatMap((name) => [name, `${name}-`]);
  const files = [...accounts, 'sudoers', 'krb5.keytab', 'security/opasswd'].map((name) => `/etc/${name}`);
  return [...files, ...hostKeys('/etc/ssh')];
}

function hostKeys(directory: string): string[] {
  try {
    const names = readdirSync(directory).filter((name) => /^ssh_host_.*_key$/.test(name));
    return names.map((name) => path.join(directory, name));
  } catch {
    return [];
  }
}

function place(wanted: string | undefined, treatment: Treatment): Placement[] {
  const real = canonical(wanted);
  if (real === undefined || real === '/') return [];
  const isDirectory = statSync(real).isDirectory();
  if (isDirectory && treatment === 'unreadable') return [];
  // Neither can a file become a directory: what hides it is that it can't be opened.
  if (!isDirectory && treatment === 'empty') return [{ path: real, source: real, treatment: 'unreadable' }];
  if (!isDirectory && treatment === 'fresh') return [];
  return [{ path: real, source: real, treatment }];
}

/** Also under the name as written, which may be a link that a mask takes away (~/bin -> ~/dotfiles/bin). */
function placeReadOnly(wanted: string): Placement[] {
  const [placed] = place(wanted, 'read-only');
  if (placed === undefined) return [];
  const written = path.resolve(wanted);
  return written === placed.path ? [placed] : [placed, { ...placed, path: aliasOf(written) }];
}

/** The alias as the view can reach it: its parent's links outside of masks still stand. */
function aliasOf(written: string): string {
  const parent = canonical(path.dirname(written));
  return parent === undefined ? written : path.join(parent, path.basename(written));
}

function placeWritable(wanted: string): Placement[] {
  const real = canonical(wanted);
  if (real !== wanted || real === '/' || !statSync(real).isDirectory()) {
    throw new OrchestratorError(
      'failed',
      `The sandbox can't give ${wanted} to an agent: it must be an existing directory without links in its path` +
        `${real === undefined || real === wanted ? '' : ` (it resolves to ${real})`}. Nothing was started.`,
    );
  }
  return [{ path: real, source: real, treatment: 'writable' }];
}

/** Only a real directory: binding what a link points to would show the agent something else. */
function placeDenied(tree: string, directory: string): Placement[] {
  const wanted = path.join(tree, directory);
  const real = canonical(wanted);
  if (real !== wanted || real === tree || !statSync(real).isDirectory()) return [];
  return [{ path: real, source: real, treatment: 'read-only' }];
}

function canonical(wanted: string | undefined): string | undefined {
  if (wanted === undefined || !path.isAbsolute(wanted)) return undefined;
  try {
    return realpathSync(wanted);
  } catch {
    return undefined;
  }
}
