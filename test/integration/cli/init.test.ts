import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, lstatSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { makePlace, type Place, writeFiles } from './cli-process.ts';

const SRC_LAYOUT = {
  'pyproject.toml': '[project]\nname = "slug"\n',
  'src/slug/__init__.py': 'def slugify(text):\n    return text.lower()\n',
  'tests/test_slug.py':
    'import unittest\nfrom slug import slugify\n\nclass T(unittest.TestCase):\n    def test_lower(self):\n        self.assertEqual(slugify("A"), "a")\n',
  'README.md': '# slug\n',
};

let place: Place;
beforeEach(() => {
  place = makePlace(SRC_LAYOUT);
});
afterEach(() => place.remove());

const inRepository = (path: string) => join(place.repository, path);
const read = (path: string) => readFileSync(inRepository(path), 'utf8');

/** Everything of the repository's own that init may not change. */
function untouched(): unknown {
  return {
    status: place.git('status', '--porcelain', '--untracked-files=all'),
    head: read('.git/HEAD'),
    config: read('.git/config'),
    index: readFileSync(inRepository('.git/index')).toString('hex'),
    refs: place.git('for-each-ref'),
    hooks: execFileSync('ls', [inRepository('.git/hooks')], { encoding: 'utf8' }),
  };
}

describe('init --yes', () => {
  test('writes policies, notes, state and .env, and git status stays clean', async () => {
    place.git('status');
    const before = untouched();
    const finished = await place.cli(['init', '--yes', '--json']);
    expect(finished.code).toBe(0);
    expect(JSON.parse(finished.stdout)).toMatchObject({
      profile: 'python-src',
      vars: { code: ['src'], tests: ['tests'] },
      kept: [],
      state: place.state,
      tracked: false,
    });
    expect(untouched()).toEqual(before);
    expect(read('.git/info/exclude')).toMatch(/^\/policies\/\n\/agent-notes\/$/m);
    for (const role of ['planner', 'coder', 'reviewer', 'test']) {
      expect(parse(read(`policies/roles/${role}.yaml`))).toMatchObject({ version: 2, role });
      expect(existsSync(inRepository(`agent-notes/${role}.md`))).toBe(true);
    }
    const env = join(place.state, '.env');
    expect((lstatSync(env).mode & 0o777).toString(8)).toBe('600');
    expect(readFileSync(env, 'utf8')).toContain('ORCH_KEY_CODER=');
  });

  test('the verify commands it records run in the checkout as they are', async () => {
    await place.cli(['init', '--yes']);
    const { verify } = parse(read('policies/global.yaml'));
    const run = (command: string, extra: Record<string, string> = {}) =>
      spawnSync('sh', ['-c', command], { cwd: place.repository, env: { ...place.env, ...extra }, encoding: 'utf8' });
    expect(run(verify.environment).status).toBe(0);
    expect(run(verify.full).status).toBe(0);
    // The same module from elsewhere does not count, and a failing test does not pass.
    writeFileSync(inRepository('src/slug/__init__.py'), 'def slugify(text):\n    return text\n');
    expect(run(verify.full).status).toBe(1);
    rmSync(inRepository('src'), { recursive: true });
    const elsewhere = join(place.directory, 'elsewhere');
    writeFiles(elsewhere, { 'slug/__init__.py': '' });
    const gate = run(verify.environment.replace('PYTHONPATH="$PWD/src" ', ''), { PYTHONPATH: elsewhere });
    expect(gate.status).toBe(1);
    expect(gate.stderr).toContain('slug imports from');
  });

  test('a second init keeps what is there and says so', async () => {
    await place.cli(['init', '--yes']);
    writeFileSync(inRepository('policies/global.yaml'), '# mine\n');
    writeFileSync(join(place.state, '.env'), 'ORCH_KEY_CODER=mine\n');
    rmSync(inRepository('policies/roles/test.yaml'));
    const finished = await place.cli(['init', '--yes']);
    expect(finished.code).toBe(0);
    expect(finished.stdout).toContain('kept  policies/global.yaml');
    expect(finished.stdout).toContain('wrote policies/roles/test.yaml');
    expect(read('policies/global.yaml')).toBe('# mine\n');
    expect(readFileSync(join(place.state, '.env'), 'utf8')).toBe('ORCH_KEY_CODER=mine\n');
    expect(read('.git/info/exclude').match(/^\/policies\/$/gm)).toHaveLength(1);
  });

  test('--restore brings back what git clean took, with the edits that init last saw', async () => {
    await place.cli(['init', '--yes']);
    const before = { global: read('policies/global.yaml'), notes: read('agent-notes/coder.md') };
    place.git('clean', '-fdxq');
    expect(existsSync(inRepository('policies'))).toBe(false);
    const finished = await place.cli(['init', '--restore']);
    expect(finished.code).toBe(0);
    expect(finished.stdout).toContain('wrote policies/roles/coder.yaml');
    expect({ global: read('policies/global.yaml'), notes: read('agent-notes/coder.md') }).toEqual(before);
    expect(place.git('status', '--porcelain')).toBe('');
    writeFileSync(inRepository('agent-notes/coder.md'), 'newer\n');
    await place.cli(['init', '--restore']);
    expect(read('agent-notes/coder.md')).toBe('newer\n');
  });

  test('--track leaves the files to be committed', async () => {
    await place.cli(['init', '--yes', '--track']);
    expect(place.git('status', '--porcelain')).toContain('?? policies/');
  });

  test('--roles and --profile', async () => {
    expect((await place.cli(['init', '--yes', '--roles', 'coder,planner', '--profile', 'python-flat'])).code).toBe(0);
    const global = parse(read('policies/global.yaml'));
    expect(global).toMatchObject({ profile: 'python-flat', pipeline: ['planner', 'coder'] });
    expect(existsSync(inRepository('policies/roles/test.yaml'))).toBe(false);
  });

  test('one key for several roles is noticed', async () => {
    await place.cli(['init', '--yes'], { env: { ORCH_KEY_CODER: 'k', ORCH_KEY_PLANNER: 'k' } });
    expect(parse(read('policies/global.yaml'))).toMatchObject({ allow_shared_key: true });
  });

  test('from a subdirectory it sets the whole repository up', async () => {
    expect((await place.cli(['init', '--yes'], { cwd: inRepository('src/slug') })).code).toBe(0);
    expect(existsSync(inRepository('policies/global.yaml'))).toBe(true);
  });
});

describe('init refuses', () => {
  test('without a terminal and without --yes: 2, and nothing was written', async () => {
    const finished = await place.cli(['init']);
    expect(finished.code).toBe(2);
    expect(finished.stderr).toContain('--yes');
    expect(existsSync(inRepository('policies'))).toBe(false);
  });

  test.each([
    ['a role that no profile ships', ['--roles', 'planner,codr'], '"codr"'],
    ['a profile that does not exist', ['--profile', 'rust'], 'rust'],
    ['nothing to restore', ['--restore'], 'no copy'],
  ])('%s: 2', async (_name, args, text) => {
    const finished = await place.cli(['init', '--yes', ...args]);
    expect(finished.code).toBe(2);
    expect(finished.stderr).toContain(text);
    expect(existsSync(inRepository('policies'))).toBe(false);
  });

  test('outside a repository, and in one without a commit', async () => {
    expect((await place.cli(['init', '--yes'], { cwd: place.directory })).code).toBe(2);
    const empty = join(place.directory, 'empty');
    mkdirSync(empty);
    place.git('init', '-q', empty);
    const finished = await place.cli(['init', '--yes', '-C', empty]);
    expect(finished.code).toBe(2);
    expect(finished.stderr).toMatch(/commit/);
    expect(existsSync(join(empty, 'policies'))).toBe(false);
  });

  test('to write through a link that leads out of the repository', async () => {
    const outside = join(place.directory, 'outside');
    mkdirSync(outside);
    symlinkSync(outside, inRepository('policies'));
    const finished = await place.cli(['init', '--yes']);
    expect(finished.code).toBe(2);
    expect(finished.stderr).toContain('should be a directory');
    expect(execFileSync('ls', [outside], { encoding: 'utf8' })).toBe('');
  });
});
