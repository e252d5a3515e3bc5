import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Problem } from './policy.ts';

export interface PolicyFile {
  /** As shown: `policies/roles/coder.yaml`. */
  readonly label: string;
  /** File name without its ending. */
  readonly name: string;
  readonly text: string;
}

/** The YAML files of a policies directory. Missing `roles/` or `agents/` directories hold none. */
export function readPolicyFiles(directory: string): {
  readonly global: PolicyFile | undefined;
  readonly roles: readonly PolicyFile[];
  readonly agents: readonly PolicyFile[];
  readonly problems: readonly Problem[];
} {
  const problems: Problem[] = [];
  const global = readOne(join(directory, 'global.yaml'), 'policies/global.yaml', problems);
  if (global === undefined && problems.length === 0) {
    problems.push(
      problemAt(
        'policies/global.yaml',
        'does not exist: `orchestrator init` writes it, `init --restore` brings a cleaned-away one back',
      ),
    );
  }
  const roles = readFolder(directory, 'roles', problems);
  const agents = readFolder(directory, 'agents', problems);
  return { global, roles, agents, problems };
}

/** Far more than a policy needs; bounds what a damaged file can cost. */
const LARGEST_FILE = 256 * 1024;

function readFolder(directory: string, folder: string, problems: Problem[]): readonly PolicyFile[] {
  const files: PolicyFile[] = [];
  for (const name of listNames(join(directory, folder))) {
    const label = `policies/${folder}/${name}`;
    if (name.endsWith('.yml')) problems.push(problemAt(label, 'is not read: rename it to end in .yaml'));
    if (!name.endsWith('.yaml')) continue;
    const file = readOne(join(directory, folder, name), label, problems);
    if (file !== undefined) files.push(file);
  }
  return files;
}

function listNames(directory: string): readonly string[] {
  try {
    return readdirSync(directory).toSorted();
  } catch (error) {
    if (isMissing(error)) return [];
    throw error;
  }
}

function readOne(path: string, label: string, problems: Problem[]): PolicyFile | undefined {
  try {
    const bytes = readFileSync(path);
    const name = label.replace(/^.*\//u, '').replace(/\.yaml$/u, '');
    if (bytes.length > LARGEST_FILE) problems.push(problemAt(label, 'is larger than 256 KiB'));
    else return { label, name, text: new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes) };
  } catch (error) {
    if (error instanceof TypeError) problems.push(problemAt(label, 'is not valid UTF-8'));
    else if (!isMissing(error)) problems.push(problemAt(label, `cannot be read: ${String(error)}`));
  }
  return undefined;
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ENOTDIR');
}

function problemAt(file: string, message: string): Problem {
  return { severity: 'error', file, line: 1, column: 1, message };
}
