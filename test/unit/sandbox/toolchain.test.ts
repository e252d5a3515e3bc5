import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { toolchainPaths } from '../../../src/sandbox/toolchain.ts';

let root: string;
beforeEach(() => {
  root = realpathSync(mkdtempSync(path.join(tmpdir(), 'orch-sbx-toolchain-')));
});
afterEach(() => {
  rmSync(root, { recursive: true });
});

function make(...files: string[]): void {
  for (const file of files) {
    mkdirSync(path.join(root, path.dirname(file)), { recursive: true });
    writeFileSync(path.join(root, file), '');
  }
}

function found(pathVariable: string[], packageRoot?: string): string[] {
  const home = path.join(root, 'home');
  const entries = pathVariable.map((entry) => path.join(root, entry));
  const options = { path: entries.join(':'), execPath: '/nowhere/bin/node', packageRoot, home };
  return toolchainPaths(options).map((one) => path.relative(root, one));
}

describe('toolchainPaths', () => {
  it('gives pyenv as a whole for its shims', () => {
    make('home/.pyenv/shims/python', 'home/.pyenv/versions/3.12/bin/python', 'home/.secret');
    expect(found(['home/.pyenv/shims'])).toEqual(['home/.pyenv/shims', 'home/.pyenv']);
  });

  it('gives a virtual environment in a checkout alone, with its base interpreter', () => {
    make('checkout/a.py', 'checkout/.venv/bin/x', 'checkout/.venv/lib/y', 'base/bin/python3', 'base/lib/z');
    writeFileSync(path.join(root, 'checkout/.venv/pyvenv.cfg'), `home = ${root}/base/bin\nversion = 3.12\n`);
    const paths = found(['checkout/.venv/bin']);
    expect(paths).toEqual(expect.arrayContaining(['checkout/.venv', 'base']));
    expect(paths).not.toContain('checkout');
  });

  it('follows links of ~/.local/bin to where uv keeps its pythons, without the rest of ~/.local', () => {
    const python = 'home/.local/share/uv/python/cpython-3.12/bin/python3.12';
    make(
      python,
      'home/.local/share/uv/python/cpython-3.12/lib/x',
      'home/.local/share/keyring/k',
      'home/.local/bin/tool',
    );
    symlinkSync(path.join(root, python), path.join(root, 'home/.local/bin/python3.12'));
    const paths = found(['home/.local/bin']);
    expect(paths).toEqual(expect.arrayContaining(['home/.local/bin', 'home/.local/share/uv/python/cpython-3.12']));
    expect(paths).not.toContain('home/.local');
    expect(paths.filter((one) => one.startsWith('home/.local/share/keyring'))).toEqual([]);
  });

  it('gives what a link in PATH points to, and the link itself', () => {
    make('home/dotfiles/bin/tool');
    symlinkSync(path.join(root, 'home/dotfiles/bin'), path.join(root, 'home/bin'));
    expect(found(['home/bin'])).toEqual(['home/bin', 'home/dotfiles/bin']);
  });

  it('never gives a whole home or a checkout for its bin', () => {
    make('home/bin/tool', 'home/lib/x', 'home/checkout/bin/run', 'home/checkout/lib/y', 'home/checkout/.git/HEAD');
    const paths = found(['home/bin', 'home/checkout/bin', 'home', 'missing']);
    expect(paths).toEqual(['home/bin', 'home/checkout/bin']);
  });

  it('gives the parts of the package, not the checkout that it may be', () => {
    make('pkg/package.json', 'pkg/src/a.ts', 'pkg/node_modules/x/index.js', 'pkg/.env');
    expect(found([], path.join(root, 'pkg'))).toEqual(['pkg/package.json', 'pkg/src', 'pkg/node_modules']);
  });

  it('gives what lies around an installed package', () => {
    make('n/node_modules/orchestrator/package.json', 'n/node_modules/zod/index.js');
    expect(found([], path.join(root, 'n/node_modules/orchestrator'))).toEqual([
      'n/node_modules/orchestrator/package.json',
      'n/node_modules',
    ]);
  });

  it('gives compilers behind cargo without its credentials', () => {
    make('home/.cargo/bin/cargo', 'home/.cargo/credentials.toml', 'home/.rustup/toolchains/stable/bin/cargo');
    const paths = found(['home/.cargo/bin']);
    expect(paths).toEqual(expect.arrayContaining(['home/.cargo/bin', 'home/.rustup/toolchains']));
    expect(paths).not.toContain('home/.cargo');
  });
});
