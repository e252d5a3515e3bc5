import { describe, expect, it } from 'vitest';
import { belonging, suspects } from '../../../src/sandbox/detect-only/find-processes.ts';
import type { ProcessIdentity } from '../../../src/sandbox/process-identity.ts';

function one(pid: number, parent: number, startTicks: number, group: number = pid): ProcessIdentity {
  return { pid, parent, startTicks, group };
}

const init = one(1, 0, 0);
const daemon = one(50, 1, 10);
const root = one(100, 50, 1000);

describe('belonging', () => {
  const none = { root, isMarked: () => false };

  it('takes the group, descendants of any depth, and marked orphans', () => {
    const all = [
      init,
      daemon,
      root,
      one(101, 1, 1001, 100),
      one(102, 100, 1001),
      one(103, 102, 1002),
      one(104, 1, 1003),
    ];
    const found = belonging(all, { root, isMarked: (pid) => pid === 104 });
    expect(found.map((process) => process.pid)).toEqual([100, 101, 102, 103, 104]);
  });

  it('leaves others alone: the daemon, a sibling, and what was there before under a reused number or mark', () => {
    const all = [init, daemon, one(60, 50, 1005), one(61, 1, 900, 100)];
    expect(belonging(all, none)).toEqual([]);
    expect(belonging(all, { root, isMarked: (pid) => pid === 61 })).toEqual([]);
  });
});

describe('suspects', () => {
  const since = { startTicks: 1000, daemonPid: 50 };

  it('are later processes that hang from an ancestor of the daemon', () => {
    const manager = one(20, 1, 5);
    const all = [init, manager, one(50, 20, 10), one(200, 20, 1001), one(201, 1, 1001)];
    expect(suspects(all, since).map((process) => process.pid)).toEqual([200, 201]);
  });

  it("are not a shell's new command, the daemon's own children, or older ones", () => {
    const shell = one(70, 1, 20);
    const all = [init, daemon, shell, one(71, 70, 1001), one(72, 50, 1001), one(73, 1, 999)];
    expect(suspects(all, since)).toEqual([]);
  });
});
