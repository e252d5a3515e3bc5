import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openStep, type Step } from './step.ts';

let step: Step;
beforeEach(async () => {
  step = await openStep();
  for (const directory of ['src', 'ask', 'never', 'gen', 'deny', 'other']) mkdirSync(at(directory));
  for (const file of ['src/a.py', 'ask/a.c', 'ask/a.md', 'never/a', 'gen/keyword.py', 'deny/a.py', 'other/a.py']) {
    writeFileSync(at(file), 'old');
  }
});
afterEach(() => step.stop());

function at(file: string): string {
  return path.join(step.tree, file);
}
function content(file: string): string {
  return readFileSync(at(file), 'utf8');
}
function edit(file: string, id?: string) {
  return step.call('edit_file', { path: file, old_text: 'old', new_text: 'new' }, id);
}

describe('a write', () => {
  it('inside the boundary is done', async () => {
    expect(await edit('src/a.py')).toMatchObject({ kind: 'result', isError: false });
    expect(content('src/a.py')).toBe('new');
    expect(step.host.refusals).toEqual([]);
  });

  it.each([
    ['never/a', 'never', 'never/**'],
    ['gen/keyword.py', 'generated', 'make regen-keyword'],
    ['deny/a.py', 'deny', 'policies/roles/coder.yaml:7'],
    ['other/a.py', 'out', 'append_note'],
  ])('to %s is refused, recorded and explained', async (file, decision, explained) => {
    const outcome = await edit(file);
    expect(outcome).toMatchObject({
      kind: 'result',
      isError: true,
      text: expect.stringContaining(`decision ${decision}`),
    });
    expect(outcome).toMatchObject({ text: expect.stringContaining(explained) });
    expect(step.host.refusals).toEqual([{ tool: 'edit_file', path: file, operation: 'modify', decision }]);
    expect(content(file)).toBe('old');
  });

  it('of the text class is done at once', async () => {
    expect(await edit('ask/a.md')).toMatchObject({ kind: 'result', isError: false });
    expect(content('ask/a.md')).toBe('new');
  });

  it('that asks waits for a human, who approves or rejects', async () => {
    expect(await edit('ask/a.c', 'c1')).toMatchObject({
      kind: 'park',
      park: {
        kind: 'boundary',
        paths: ['ask/a.c'],
        toolCallId: 'c1',
        reason: expect.stringContaining('old_text: old\nnew_text: new'),
      },
    });
    expect(content('ask/a.c')).toBe('old');
    step.host.answers.set('c1', { verdict: 'reject', reason: 'Not in this task.' });
    expect(await edit('ask/a.c', 'c1')).toMatchObject({
      isError: true,
      text: expect.stringContaining('Not in this task.'),
    });
    expect(content('ask/a.c')).toBe('old');
    step.host.answers.set('c1', { verdict: 'approve' });
    expect(await edit('ask/a.c', 'c1')).toMatchObject({ isError: false });
    expect(content('ask/a.c')).toBe('new');
    expect(step.host.refusals).toEqual([]);
  });

  it.each(['/etc/orchestrator-test', '../escape', 'src/../../escape', 'a\\b', ''])(
    'to %j, which is no path of the repository, is refused as out',
    async (written) => {
      const outcome = await step.call('write_file', { path: written, content: 'x' });
      expect(outcome).toMatchObject({ isError: true, text: expect.stringContaining('decision out') });
      expect(step.host.refusals).toMatchObject([{ path: written, decision: 'out' }]);
      expect(existsSync(path.join(step.root, 'escape'))).toBe(false);
    },
  );

  it('is judged by components, not by the beginning of the name', async () => {
    expect(await step.call('write_file', { path: 'src-evil/a', content: 'x' })).toMatchObject({ isError: true });
    expect(await step.call('write_file', { path: './src//b', content: 'x' })).toMatchObject({ isError: false });
    expect(existsSync(at('src/b'))).toBe(true);
  });
});

describe('a link', () => {
  it('is judged where it leads', async () => {
    symlinkSync('../deny/a.py', at('src/link.py'));
    expect(await edit('src/link.py')).toMatchObject({ isError: true, text: expect.stringContaining('decision deny') });
    expect(content('deny/a.py')).toBe('old');
  });

  it('is judged at its own path too', async () => {
    symlinkSync('../src/a.py', at('deny/link.py'));
    expect(await edit('deny/link.py')).toMatchObject({ isError: true, text: expect.stringContaining('deny/link.py') });
    expect(content('src/a.py')).toBe('old');
  });

  it('of a directory is followed before judging', async () => {
    symlinkSync('../deny', at('src/dir'));
    expect(await step.call('write_file', { path: 'src/dir/new.py', content: 'x' })).toMatchObject({ isError: true });
    expect(step.host.refusals).toMatchObject([{ path: 'deny/new.py', operation: 'create', decision: 'deny' }]);
    expect(existsSync(at('deny/new.py'))).toBe(false);
  });

  it.each(['/tmp', '../../state', 'loop'])('to %s is outside', async (target) => {
    symlinkSync(target, at('src/loop'));
    expect(await step.call('write_file', { path: 'src/loop/x', content: 'x' })).toMatchObject({ isError: true });
    expect(step.host.refusals).toMatchObject([{ decision: 'out' }]);
  });

  it('that dangles inside the boundary is written through', async () => {
    symlinkSync('later.py', at('src/dangling.py'));
    expect(await step.call('write_file', { path: 'src/dangling.py', content: 'x' })).toMatchObject({ isError: false });
    expect(content('src/later.py')).toBe('x');
  });
});

describe('move_file', () => {
  it('is a delete and a create, both judged', async () => {
    expect(await step.call('move_file', { from: 'deny/a.py', to: 'src/b.py' })).toMatchObject({ isError: true });
    expect(await step.call('move_file', { from: 'src/a.py', to: 'deny/b.py' })).toMatchObject({ isError: true });
    expect(step.host.refusals.map(({ path: file, operation }) => [file, operation])).toEqual([
      ['deny/a.py', 'delete'],
      ['deny/b.py', 'create'],
    ]);
    expect(await step.call('move_file', { from: 'src/a.py', to: 'src/b.py' })).toMatchObject({ isError: false });
    expect(content('src/b.py')).toBe('old');
  });

  it('parks with every path that asks', async () => {
    expect(await step.call('move_file', { from: 'ask/a.c', to: 'ask/b.c' })).toMatchObject({
      kind: 'park',
      park: { paths: ['ask/a.c', 'ask/b.c'] },
    });
    expect(existsSync(at('ask/a.c'))).toBe(true);
  });
});

describe('request_access', () => {
  const ask = (paths: string[], id?: string) => step.call('request_access', { paths, reason: 'needed' }, id);

  it('waits for a human about hard asks', async () => {
    expect(await ask(['ask/a.c', 'src/a.py', 'ask/new.c'], 'c1')).toMatchObject({
      kind: 'park',
      park: { kind: 'boundary', paths: ['ask/a.c', 'ask/new.c'], reason: 'needed', toolCallId: 'c1' },
    });
    step.host.answers.set('c1', { verdict: 'approve' });
    expect(await ask(['ask/a.c'], 'c1')).toMatchObject({ isError: false, text: expect.stringContaining('Granted') });
    step.host.answers.set('c1', { verdict: 'reject', reason: 'No.' });
    expect(await ask(['ask/a.c'], 'c1')).toMatchObject({ isError: true, text: expect.stringContaining('No.') });
  });

  it('says what is writable already, text asks too', async () => {
    expect(await ask(['src/a.py', 'ask/a.md'])).toMatchObject({
      isError: false,
      text: expect.stringContaining('already'),
    });
  });

  it.each(['deny/a.py', 'never/a', 'gen/keyword.py', 'other/a.py', '/etc/passwd'])('can not open %s', async (file) => {
    expect(await ask(['ask/a.c', file])).toMatchObject({ kind: 'result', isError: true });
    // Asking is no attempt.
    expect(step.host.refusals).toEqual([]);
  });

  it('wants files, not globs', async () => {
    expect(await ask(['ask/**'])).toMatchObject({ isError: true, text: expect.stringContaining('glob') });
  });
});
