// biome-ignore-all lint/suspicious/noTemplateCurlyInString: policy files hold ${…}
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

export interface PolicyDirectory {
  /** Holds `policies/`. */
  readonly root: string;
  readonly directory: string;
  remove(): void;
}

/** Writes policy files below a fresh directory; names are relative to `policies/`. */
export function writePolicies(files: Readonly<Record<string, string | Buffer>>): PolicyDirectory {
  const root = mkdtempSync(join(tmpdir(), 'orch-policy-load-'));
  const directory = join(root, 'policies');
  mkdirSync(directory);
  for (const [name, text] of Object.entries(files)) {
    const path = join(directory, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
  }
  return { root, directory, remove: () => rmSync(root, { recursive: true, force: true }) };
}

export const GLOBAL = 'version: 2\npipeline: [coder]\nvars: { code: [src] }\n';
export const CODER = 'version: 2\nrole: coder\nwrite: ["${code}/**"]\n';
