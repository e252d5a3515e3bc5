/** What one path becomes inside a view. */
export type Treatment =
  /** An empty read-only directory. */
  | 'empty'
  /** An empty directory of the view's own, writable. */
  | 'fresh'
  | 'read-only'
  | 'writable'
  /** A file that can't be opened. */
  | 'unreadable';

export interface Placement {
  /** Absolute path inside the view. */
  readonly path: string;
  /** The path outside that is bound there; the same as `path` but for an alias of a link that a mask took away. */
  readonly source: string;
  readonly treatment: Treatment;
}

export interface CompileOptions {
  readonly placements: readonly Placement[];
  /** Existing entries of /proc that the kernel lets a root-owned process write even without capabilities. */
  readonly guardedProc: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly network: 'none' | 'host';
}

/**
 * The arguments of bwrap for one view. The most specific placement of a path holds: they are applied from the root
 * down, so a hidden directory may hold the tree, and a read-only toolchain may lie below a hidden home.
 */
export function compileView(options: CompileOptions): string[] {
  const placements = effective(options.placements);
  return [
    ...namespaces(options.network),
    // Without capabilities, so that even a view of root can't unmount what hides things.
    ...['--cap-drop', 'ALL'],
    ...['--ro-bind', '/', '/', '--proc', '/proc', '--dev', '/dev'],
    ...options.guardedProc.flatMap((entry) => ['--ro-bind', entry, entry]),
    ...placements.flatMap(mount),
    // Last: mount points inside the empty directories have been made by now.
    ...placements.filter((one) => one.treatment === 'empty').flatMap((one) => ['--remount-ro', one.path]),
    ...['--chdir', options.cwd, '--clearenv'],
    ...Object.entries(options.env).flatMap(([name, value]) => ['--setenv', name, value]),
  ];
}

function namespaces(network: 'none' | 'host'): string[] {
  const net = network === 'none' ? ['--unshare-net'] : [];
  const others = ['--unshare-user', '--unshare-pid', '--unshare-ipc', '--unshare-uts', '--unshare-cgroup-try'];
  return [...others, ...net, '--die-with-parent', '--new-session'];
}

/** Sorted from the root down, one placement a path, without those that the placement above already provides. */
function effective(placements: readonly Placement[]): Placement[] {
  const byPath = new Map<string, Placement>();
  for (const placement of placements) {
    const rival = byPath.get(placement.path);
    if (rival === undefined || RANK[placement.treatment] > RANK[rival.treatment]) {
      byPath.set(placement.path, placement);
    }
  }
  const kept = new Map<string, Placement>();
  for (const placement of [...byPath.values()].sort(fromTheRootDown)) {
    if (isNeeded(placement, nearestAbove(placement.path, kept))) kept.set(placement.path, placement);
  }
  return [...kept.values()];
}

/** On the same path: hiding wins over a toolchain's wish to be seen, the view's own directories win over hiding. */
const RANK = {
  unreadable: 0,
  'read-only': 1,
  empty: 2,
  fresh: 3,
  writable: 4,
} as const satisfies Record<Treatment, number>;

function fromTheRootDown(left: Placement, right: Placement): number {
  const depth = left.path.split('/').length - right.path.split('/').length;
  return depth !== 0 ? depth : left.path < right.path ? -1 : 1;
}

function nearestAbove(path: string, kept: ReadonlyMap<string, Placement>): Placement | undefined {
  for (let end = path.lastIndexOf('/'); end > 0; end = path.lastIndexOf('/', end - 1)) {
    const found = kept.get(path.slice(0, end));
    if (found !== undefined) return found;
  }
  return undefined;
}

function isNeeded(placement: Placement, above: Placement | undefined): boolean {
  const around = above?.treatment ?? 'read-only';
  switch (placement.treatment) {
    case 'empty':
      return around !== 'empty';
    case 'fresh':
      return around !== 'fresh';
    case 'unreadable':
      return around === 'read-only' || around === 'writable';
    case 'read-only':
    case 'writable':
      return around !== placement.treatment || placement.source !== placement.path;
  }
}

function mount(placement: Placement): string[] {
  switch (placement.treatment) {
    case 'empty':
      return ['--tmpfs', placement.path];
    case 'fresh':
      return ['--perms', '1777', '--tmpfs', placement.path];
    case 'read-only':
      return ['--ro-bind', placement.source, placement.path];
    case 'writable':
      return ['--bind', placement.source, placement.path];
    case 'unreadable':
      // Binds are mounted without devices, so that opening the null device fails.
      return ['--ro-bind', '/dev/null', placement.path];
  }
}
