import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { openStep, type Step, type StepOptions } from './step.ts';

const opened: Step[] = [];
afterEach(async () => {
  for (const step of opened.splice(0)) await step.stop();
});

async function open(options: StepOptions = {}): Promise<Step> {
  const step = await openStep(options);
  opened.push(step);
  return step;
}

function names(step: Step): string[] {
  return step.toolbox.definitions.map((definition) => definition.name);
}

describe('the toolbox', () => {
  it("offers what the role's list and its submission say", async () => {
    expect(names(await open())).toEqual([
      ...['read_file', 'list_files', 'search', 'edit_file', 'write_file', 'delete_file', 'move_file'],
      ...['run_command', 'append_note', 'request_access', 'finish'],
    ]);
    expect(names(await open({ tools: ['note', 'read'], submits: 'plan' }))).toEqual([
      ...['read_file', 'list_files', 'append_note', 'request_access', 'submit_plan', 'finish'],
    ]);
    expect(names(await open({ tools: [], submits: 'review' }))).toEqual(['request_access', 'submit_review', 'finish']);
  });

  it('describes inputs by strict schemas without security fields', async () => {
    const { toolbox } = await open();
    for (const { inputSchema } of toolbox.definitions) expect(inputSchema['additionalProperties']).toBe(false);
    const run = toolbox.definitions.find((definition) => definition.name === 'run_command');
    expect(Object.keys(run?.inputSchema['properties'] ?? {})).toEqual(['command', 'timeout_seconds']);
    expect(run?.inputSchema['required']).toEqual(['command']);
  });

  it('answers wrong inputs, unknown keys, and tools that are not offered', async () => {
    const step = await open({ tools: ['read', 'run'] });
    writeFileSync(path.join(step.tree, 'a'), 'x');
    expect(await step.call('read_file', { path: 'a' })).toMatchObject({ isError: false, text: 'x' });
    for (const input of [{ path: 'a', cwd: '/' }, {}, { path: 1 }, null, 'a', { path: 'a', offset: 0 }]) {
      expect(await step.call('read_file', input)).toMatchObject({
        isError: true,
        text: expect.stringContaining('Wrong input'),
      });
    }
    expect(await step.call('run_command', { command: 'true', network: 'host' })).toMatchObject({ isError: true });
    expect(await step.call('write_file', { path: 'src/a', content: '' })).toMatchObject({
      isError: true,
      text: expect.stringContaining('There is no tool write_file'),
    });
  });

  it('hands notes, plans, reviews and the end to the daemon', async () => {
    const step = await open({ submits: 'plan' });
    await step.call('append_note', { text: 'see Modules/x.c' });
    expect(step.host.notes).toEqual([{ text: 'see Modules/x.c', turn: 3 }]);
    const task = { title: 't', expected_paths: ['src/**'], instructions: 'i' };
    expect(await step.call('submit_plan', { tasks: [task] })).toMatchObject({ kind: 'result', isError: false });
    expect(await step.call('submit_plan', { tasks: [{ ...task, depends_on: [99] }] })).toMatchObject({
      isError: true,
      text: 'task 99 does not exist',
    });
    expect(await step.call('submit_plan', { tasks: [{ ...task, id: 'T9' }] })).toMatchObject({ isError: true });
    expect(step.host.plans).toHaveLength(2);
    expect(await step.call('finish', { summary: 'done' })).toEqual({ kind: 'finish', summary: 'done' });

    const reviewer = await open({ submits: 'review' });
    const review = { verdict: 'approve', findings: [{ severity: 'low', text: 'fine' }] };
    expect(await reviewer.call('submit_review', review)).toMatchObject({ isError: false });
    expect(reviewer.host.reviews).toEqual([review]);
    expect(await reviewer.call('submit_review', { ...review, verdict: 'maybe' })).toMatchObject({ isError: true });
  });

  it('throws once the worker is gone, and end() proves that nothing is left', async () => {
    const step = await open();
    await expect(step.call('list_files', {})).resolves.toMatchObject({ isError: false });
    const ending = await step.toolbox.end();
    expect(ending.dead).toBe(true);
    await expect(step.call('list_files', {})).rejects.toMatchObject({ code: 'failed' });
  });

  it('works without a sandbox too', async () => {
    const step = await open({ mode: 'detect-only' });
    expect(await step.call('write_file', { path: 'src/a', content: 'x' })).toMatchObject({ isError: false });
    expect(await step.call('run_command', { command: 'cat src/a' })).toMatchObject({ text: 'x\n[exit code 0]' });
    expect(await step.call('write_file', { path: 'deny/a', content: 'x' })).toMatchObject({ isError: true });
  });
});
