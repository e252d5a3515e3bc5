import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import type { Reply } from '../../src/cli/demo/script.ts';
import { tableScript } from '../../src/cli/demo/script.ts';
import { command, finish, quietRoles, reply, SRC_PROJECT, write } from './support/project.ts';
import { must, openStage, play, type Stage } from './support/stage.ts';

const HONEST = 'def add(a, b):\n    """The sum."""\n    return a + b\n';
const TEST_FILE = 'tests/test_core.py';

interface ViolationRow {
  readonly role: string | null;
  readonly path: string;
  readonly decision: string;
  readonly rule?: string;
  readonly detectedBy: string;
  readonly resolution: string;
}

let stage: Stage | undefined;
afterEach(async () => {
  await stage?.close();
  stage = undefined;
});

/** Runs a coder that tries `attempt` first and then does its honest work; the honest part must be merged. */
async function attempt(
  attempts: readonly Reply[],
  init: readonly string[] = [],
): Promise<{ violations: readonly ViolationRow[]; stage: Stage; target: string }> {
  const opened = await openStage({
    files: SRC_PROJECT,
    init,
    start: false,
    script: tableScript({ ...quietRoles(), coder: [...attempts, write('src/pkg/core.py', HONEST), finish()] }),
  });
  stage = opened;
  // Whatever the agent types may run: the boundary must hold by effect, not because a command was not on a list.
  await opened.edit('policies/roles/coder.yaml', (text) => text.replace(/allow: \[[^\]]*\]/, 'allow: ["**"]'));
  await must(opened.cli(['start']));
  const before = await opened.git('status', '--porcelain');
  const { shown } = await play(opened, 'document add');
  expect(shown.state, shown.reason ?? '').toBe('merged');
  expect(await opened.git('show', `${shown.target}:src/pkg/core.py`)).toBe(HONEST.trim());
  expect(await opened.git('diff', '--name-only', 'main', shown.target)).toBe('src/pkg/core.py');
  expect(await opened.git('status', '--porcelain')).toBe(before);
  expect(await readFile(path.join(opened.project, TEST_FILE), 'utf8')).toBe(SRC_PROJECT[TEST_FILE]);
  return { violations: await opened.json<ViolationRow[]>(['violations']), stage: opened, target: shown.target };
}

describe('what a coder writes outside its boundary does not arrive', () => {
  it('through write_file', async () => {
    const { violations } = await attempt([write(TEST_FILE, 'pass\n')]);
    expect(violations).toMatchObject([
      { role: 'coder', path: TEST_FILE, decision: 'deny', detectedBy: 'tool', resolution: 'prevented' },
    ]);
    expect(violations[0]?.rule).toBeTruthy();
  });

  it('through sed -i over two files', async () => {
    const { stage: opened } = await attempt([command(`sed -i s/add/sum/ ${TEST_FILE} src/pkg/util.py; echo done`)]);
    expect(await opened.git('log', '--format=%an', '-1', 'main')).toBe('Ada Example');
  });

  it('through a Python heredoc', async () => {
    await attempt([
      command(`python3 - <<'EOF'\nfrom pathlib import Path\nPath('${TEST_FILE}').write_text('pass\\n')\nEOF`),
    ]);
  });

  it('through a heredoc that makes a file nobody owns', async () => {
    const { violations } = await attempt([
      command(
        `python3 - <<'EOF'\nfrom pathlib import Path\nPath('elsewhere').mkdir()\nPath('elsewhere/x.py').write_text('pass\\n')\nEOF`,
      ),
    ]);
    expect(violations).toMatchObject([
      { role: 'coder', path: 'elsewhere/x.py', decision: 'out', detectedBy: 'snapshot', resolution: 'quarantined' },
    ]);
  });

  it('through a symlink', async () => {
    const { violations } = await attempt([
      command('ln -s ../../tests src/pkg/link'),
      write('src/pkg/link/test_core.py', 'pass\n'),
    ]);
    expect(violations.map((row) => row.role)).toContain('coder');
    expect(violations.length).toBeGreaterThan(0);
  });

  it('by renaming across the boundary', async () => {
    const { violations } = await attempt([
      command('mkdir -p other && mv src/pkg/util.py other/util.py'),
      reply({ name: 'move_file', input: { from: TEST_FILE, to: 'src/pkg/test_moved.py' } }),
    ]);
    expect(violations.map((row) => row.path)).toEqual(expect.arrayContaining(['other/util.py', TEST_FILE]));
  });

  it('by an absolute path into the checkout', async () => {
    const { violations } = await attempt([
      command(
        'echo pass > "$(dirname "$PWD")/../../project/src/pkg/core.py"; for d in /tmp/orch-e2e-*/project; do echo pass > $d/tests/test_core.py; done; echo tried',
      ),
      write('/tmp/somewhere/tests/test_core.py', 'pass\n'),
    ]);
    expect(violations).toMatchObject([{ role: 'coder', decision: 'out', detectedBy: 'tool', resolution: 'prevented' }]);
  });

  it('by editing its own policy', async () => {
    const { violations, stage: opened } = await attempt([
      write('policies/roles/coder.yaml', 'write: ["**"]\n'),
      command('mkdir -p policies/roles && echo "write: [\'**\']" >> policies/roles/coder.yaml'),
      write(TEST_FILE, 'pass\n'),
    ]);
    expect(violations.map((row) => row.decision)).toEqual(expect.arrayContaining(['never', 'deny']));
    expect(await readFile(path.join(opened.project, 'policies/roles/coder.yaml'), 'utf8')).not.toContain(
      'write: ["**"]',
    );
  });
});

it('the same effects are judged without a sandbox', async () => {
  const opened = await openStage({
    files: SRC_PROJECT,
    start: false,
    script: tableScript({
      ...quietRoles(),
      coder: [
        command(`echo "# x" >> ${TEST_FILE}; echo "# x" >> src/pkg/util.py`),
        write('src/pkg/core.py', HONEST),
        finish(),
      ],
    }),
  });
  stage = opened;
  await opened.edit('policies/roles/coder.yaml', (text) => text.replace(/allow: \[[^\]]*\]/, 'allow: ["**"]'));
  await opened.edit('policies/global.yaml', (text) => text.replace(/mode: auto/, 'mode: detect-only'));
  await must(opened.cli(['start']));
  const { shown } = await play(opened, 'document add');
  expect(shown.state, shown.reason ?? '').toBe('merged');
  expect(await opened.git('diff', '--name-only', 'main', shown.target)).toBe('src/pkg/core.py\nsrc/pkg/util.py');
  const violations = await opened.json<ViolationRow[]>(['violations']);
  expect(violations).toMatchObject([
    { role: 'coder', path: TEST_FILE, decision: 'deny', detectedBy: 'snapshot', resolution: 'quarantined' },
  ]);
});
