import { describe, expect, it } from 'vitest';
import { compileView, type Placement, type Treatment } from '../../../src/sandbox/bwrap/compile.ts';

function at(path: string, treatment: Treatment, source: string = path): Placement {
  return { path, source, treatment };
}

function compiled(placements: readonly Placement[], network: 'none' | 'host' = 'none'): string {
  const options = { placements, guardedProc: ['/proc/sys'], cwd: '/state/tree', env: { A: '1' }, network };
  return compileView(options).join(' ');
}

/** What stands between the fixed beginning and the fixed end. */
function mounts(placements: readonly Placement[]): string {
  const all = compiled(placements);
  return all.slice(all.indexOf('/proc/sys /proc/sys') + '/proc/sys /proc/sys'.length, all.indexOf('--chdir')).trim();
}

describe('compileView', () => {
  it.each<[string, Placement[], string]>([
    ['hides a directory and makes it read-only last', [at('/home', 'empty')], '--tmpfs /home --remount-ro /home'],
    [
      'brings the tree back out of the hidden state directory, whatever the order given',
      [at('/state/w/tree', 'writable'), at('/state', 'empty')],
      '--tmpfs /state --bind /state/w/tree /state/w/tree --remount-ro /state',
    ],
    [
      'hides the checkout below a visible prefix and brings its toolchain back',
      [at('/home/u/c', 'empty'), at('/home', 'empty'), at('/home/u', 'read-only'), at('/home/u/c/.venv', 'read-only')],
      '--tmpfs /home --ro-bind /home/u /home/u --tmpfs /home/u/c --ro-bind /home/u/c/.venv /home/u/c/.venv ' +
        '--remount-ro /home --remount-ro /home/u/c',
    ],
    [
      'binds deny directories inside the writable tree read-only',
      [at('/t', 'writable'), at('/t/Lib/test', 'read-only')],
      '--bind /t /t --ro-bind /t/Lib/test /t/Lib/test',
    ],
    [
      'needs nothing for what the read-only root shows anyway',
      [at('/usr', 'read-only'), at('/opt/x', 'read-only')],
      '',
    ],
    ['hides once', [at('/home', 'empty'), at('/home/u', 'empty')], '--tmpfs /home --remount-ro /home'],
    [
      'hides again inside a directory that is only fresh',
      [at('/tmp', 'fresh'), at('/tmp/state', 'empty')],
      '--perms 1777 --tmpfs /tmp --tmpfs /tmp/state --remount-ro /tmp/state',
    ],
    [
      'hides the checkout even if a toolchain asks for it',
      [at('/c', 'read-only'), at('/c', 'empty')],
      '--tmpfs /c --remount-ro /c',
    ],
    [
      'keeps /tmp writable even if it is hidden too',
      [at('/tmp', 'empty'), at('/tmp', 'fresh')],
      '--perms 1777 --tmpfs /tmp',
    ],
    ['masks files that are visible', [at('/etc/shadow', 'unreadable')], '--ro-bind /dev/null /etc/shadow'],
    [
      'and not those that are hidden',
      [at('/run', 'empty'), at('/run/k', 'unreadable')],
      '--tmpfs /run --remount-ro /run',
    ],
    [
      'binds an alias whose link a mask took away',
      [at('/home', 'empty'), at('/data/bin', 'read-only'), at('/home/u/bin', 'read-only', '/data/bin')],
      '--tmpfs /home --ro-bind /data/bin /home/u/bin --remount-ro /home',
    ],
    [
      'does not take a sibling with the same beginning for a child',
      [at('/home', 'empty'), at('/home2/x', 'empty')],
      '--tmpfs /home --tmpfs /home2/x --remount-ro /home --remount-ro /home2/x',
    ],
  ])('%s', (_name, placements, expected) => {
    expect(mounts(placements)).toBe(expected);
  });

  it('unshares the network only when there is none', () => {
    expect(compiled([])).toContain('--unshare-net');
    expect(compiled([], 'host')).not.toContain('--unshare-net');
  });

  it('drops capabilities, guards /proc and gives exactly the environment', () => {
    const all = compiled([]);
    for (const part of ['--unshare-user', '--unshare-pid', '--die-with-parent', '--new-session', '--cap-drop ALL']) {
      expect(all).toContain(part);
    }
    expect(all).toContain('--proc /proc --dev /dev --ro-bind /proc/sys /proc/sys');
    expect(all.endsWith('--chdir /state/tree --clearenv --setenv A 1')).toBe(true);
  });
});
