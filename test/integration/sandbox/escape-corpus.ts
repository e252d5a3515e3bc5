import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { type Ran, SECRET, type World } from './world.ts';

export interface Escape {
  readonly name: string;
  readonly script: (world: World) => string;
  /** Whether it got out, judged by what is outside or by what was learnt. */
  readonly escaped: (world: World, ran: Ran) => boolean;
  /** Needs the rights of root for its positive control. */
  readonly rootOnly?: true;
}

const isChanged = (file: (world: World) => string) => (world: World) =>
  !existsSync(file(world)) || readFileSync(file(world), 'utf8') !== SECRET;
const isSecretSeen = (_world: World, ran: Ran): boolean => ran.output.includes(SECRET);
const isConnected = (_world: World, ran: Ran): boolean => ran.output.includes('connected');

function connect(where: object): string {
  const script = `
    const socket = require("node:net").connect(${JSON.stringify(where)});
    socket.on("connect", () => { console.log("connected"); socket.destroy(); });
    socket.on("error", (error) => console.log(error.code));`;
  return `"$NODE" -e '${script}'`;
}

/** Each is tried inside a view, where it must fail, and unconfined, where it must work: blocked is not broken. */
export const ESCAPES: readonly Escape[] = [
  {
    name: 'write to the checkout by its absolute path',
    script: ({ files }) => `echo x > ${files.protected}`,
    escaped: isChanged(({ files }) => files.protected),
  },
  {
    name: 'write by cd and a relative path',
    script: ({ files, view }) => `cd "${path.relative(view.tree, files.checkout)}" && echo x > prot.txt`,
    escaped: isChanged(({ files }) => files.protected),
  },
  {
    name: 'write through a symbolic link made in the tree',
    script: ({ files }) => `ln -s ${files.checkout} link && echo x > link/prot.txt`,
    escaped: isChanged(({ files }) => files.protected),
  },
  {
    name: 'write through a hard link made in the tree',
    script: ({ files }) => `ln ${files.protected} alias && echo x > alias`,
    escaped: isChanged(({ files }) => files.protected),
  },
  {
    name: 'write through the root of another process',
    script: ({ files }) => `echo x > /proc/1/root${files.protected} || echo x > /proc/$PPID/root${files.protected}`,
    escaped: isChanged(({ files }) => files.protected),
  },
  {
    name: 'move the checkout away',
    script: ({ files }) => `mv ${files.protected} ./taken`,
    escaped: isChanged(({ files }) => files.protected),
  },
  {
    name: 'write to the state directory',
    script: ({ files }) => `echo x > ${files.env}`,
    escaped: isChanged(({ files }) => files.env),
  },
  {
    name: 'delete from the state directory',
    script: ({ files }) => `rm -rf ${files.state}/.env`,
    escaped: isChanged(({ files }) => files.env),
  },
  {
    name: "write to another role's tree",
    script: ({ files }) => `echo x > ${files.otherTree}`,
    escaped: isChanged(({ files }) => files.otherTree),
  },
  {
    name: 'write below a denied directory of the own tree',
    script: ({ files }) => `echo x > ${files.denied}`,
    escaped: isChanged(({ files }) => files.denied),
  },
  {
    name: 'create below a denied directory',
    script: ({ files }) => `echo x > ${path.dirname(files.denied)}/new.txt`,
    escaped: ({ files }) => existsSync(path.join(path.dirname(files.denied), 'new.txt')),
  },
  { name: 'read a key in home', script: ({ files }) => `cat ${files.key}`, escaped: isSecretSeen },
  { name: "read the daemon's keys", script: ({ files }) => `cat ${files.env}`, escaped: isSecretSeen },
  { name: "read another role's tree", script: ({ files }) => `cat ${files.otherTree}`, escaped: isSecretSeen },
  {
    name: 'read a key through a link made in the tree',
    script: ({ files }) => `ln -s ${files.key} k && cat k`,
    escaped: isSecretSeen,
  },
  {
    name: 'read a password file',
    script: () => 'head -c 4 /etc/shadow && echo connected',
    escaped: isConnected,
    rootOnly: true,
  },
  {
    name: 'read the environment of a process outside',
    script: () => 'cat /proc/$OUTSIDE_PID/environ | tr "\\0" "\\n"',
    escaped: isSecretSeen,
  },
  {
    name: 'open a kernel setting for writing',
    script: () => ': >> /proc/sys/kernel/core_pattern && echo connected',
    escaped: isConnected,
    rootOnly: true,
  },
  {
    name: 'connect to a TCP port of the host',
    script: ({ port }) => connect({ host: '127.0.0.1', port }),
    escaped: isConnected,
  },
  {
    name: "connect to the daemon's socket",
    script: ({ files }) => connect({ path: files.daemonSocket }),
    escaped: isConnected,
  },
  {
    name: 'connect to an abstract socket',
    script: ({ abstractName }) => connect({ path: abstractName }),
    escaped: isConnected,
  },
];
