import { symlinkSync, writeFileSync } from 'node:fs';
import { mkdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { tableScript } from '../../src/cli/demo/script.ts';
import { finish, quietRoles, SRC_PROJECT, write } from './support/project.ts';
import { must, openStage, play, type Stage } from './support/stage.ts';

let stage: Stage | undefined;
afterEach(async () => {
  await stage?.close();
  stage = undefined;
});

const SCRIPT = tableScript({ ...quietRoles(), coder: [write('src/pkg/made.py', 'MADE = 1\n'), finish()] });

it.each(['new\nline c# "q": ü', "quo'te $HOME `x`"])('a run lands in a checkout named %j', async (name) => {
  const running = await openStage({ files: SRC_PROJECT, script: SCRIPT, project: name });
  stage = running;
  const { shown } = await play(running, 'Make it.');
  expect(shown.state).toBe('merged');
  await must(running.cli(['land', shown.run]));
  expect(await readFile(path.join(running.project, 'src/pkg/made.py'), 'utf8')).toBe('MADE = 1\n');
  expect(await running.git('status', '--porcelain')).toBe('');
  await running.git('fsck', '--no-dangling');
});

it('names, links, attributes and filters of all kinds come through a run as they were', async () => {
  const running = await openStage({
    files: {
      ...SRC_PROJECT,
      'src/pkg/crlf.py': 'x = 1\r\ny = 2\r\n',
      'src/pkg/new\nline.txt': 'n',
      'src/pkg/tab\t"q".txt': 't',
      'src/pkg/Case.py': 'A = 1\n',
      'src/pkg/case.py': 'a = 2\n',
      'src/pkg/a.id': '$Id$\n',
      'src/pkg/b.bin': 'not a pointer\n',
    },
    script: SCRIPT,
    init: ['--profile', 'python-src'],
    start: false,
  });
  stage = running;
  symlinkSync('core.py', path.join(running.project, 'src/pkg/link.py'));
  symlinkSync('/etc/passwd', path.join(running.project, 'outside'));
  const raw = Buffer.concat([Buffer.from(path.join(running.project, 'src/pkg/')), Buffer.from([0xff, 0xfe])]);
  writeFileSync(raw, 'raw\n');
  await running.git('add', '-A');
  writeFileSync(path.join(running.project, '.gitattributes'), '*.bin filter=gone\n*.id ident\n*.py text eol=lf\n');
  await running.git('add', '.gitattributes');
  await running.git('commit', '-qm', 'all kinds');
  await running.git('config', 'filter.gone.clean', 'false');
  await running.git('config', 'filter.gone.required', 'true');
  await mkdir(path.join(running.project, 'empty'));
  await must(running.cli(['start']));

  const { shown } = await play(running, 'Make it.');
  expect(shown.state).toBe('merged');
  const changed = await running.git('diff', '--name-status', `main..${shown.target}`);
  expect(changed).toBe('A\tsrc/pkg/made.py');
  expect(await running.json<unknown[]>(['violations'])).toEqual([]);
});
