import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { VERB_GROUPS } from '../../../src/cli/program/verbs.ts';
import { makePlace, type Place } from './cli-process.ts';

let place: Place;
beforeAll(() => {
  place = makePlace();
});
afterAll(() => place.remove());

describe('help', () => {
  test('leads with the seven that a day needs', async () => {
    const { code, stdout } = await place.cli(['--help']);
    expect(code).toBe(0);
    const names = [...stdout.matchAll(/^ {2}([a-z]+)/gm)].map((match) => match[1]);
    expect(names.slice(0, 7)).toEqual(['init', 'start', 'run', 'status', 'review', 'report', 'land']);
    expect(stdout).toContain('6 daemon not running');
  });

  const verbs = VERB_GROUPS.flatMap((group) => group.verbs);
  const calls = verbs.flatMap((verb) => [
    verb,
    ...(verb.verbs ?? []).map((child) => ({ ...child, usage: `${verb.usage} ${child.usage}` })),
  ]);
  test.each(calls.map((verb) => [verb.usage.replace(/ [<[].*/, ''), verb] as const))(
    'of %s teaches with an example',
    async (name, verb) => {
      const { code, stdout } = await place.cli([...name.split(' '), '--help']);
      expect(code).toBe(0);
      expect(stdout).toContain(verb.summary.slice(0, 20));
      expect(stdout).toMatch(/Example:\n {2}\$ \S.*orchestrator|Example:\n {2}\$ orchestrator/);
      expect(stdout).toContain('--json');
    },
  );

  test('--version is the version of the package', async () => {
    const { stdout, code } = await place.cli(['--version']);
    expect(stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
    expect(code).toBe(0);
  });

  test('commands of later issues are not offered', async () => {
    for (const name of ['watch', 'attach', 'export', 'batch', 'keys', 'selftest', 'mcp']) {
      expect((await place.cli([name])).code).toBe(2);
    }
  });
});

describe('bad input', () => {
  test.each([
    ['an unknown command', ['stauts'], 2, 'Did you mean status?'],
    ['an unknown subcommand', ['policy', 'explian'], 2, 'Did you mean explain?'],
    ['policy alone', ['policy'], 2, 'Usage:'],
    ['an unknown option', ['run', 'x', '--wiat'], 2, 'Did you mean --wait?'],
    ['an unknown option without a command', ['--jsn'], 2, 'Did you mean --json?'],
    ['a missing argument', ['show'], 2, "missing required argument 'id'"],
    ['too many arguments', ['run', 'fix', 'it'], 2, 'too many arguments'],
    ['an option without its value', ['approve', 'c-1', '--tokens'], 2, 'argument missing'],
    ['tokens that are no number', ['approve', 'c-1', '--tokens', 'lots'], 2, 'not a number of tokens'],
    ['a rejection without reason', ['reject', 'c-1'], 2, '--reason'],
    ['an empty request', ['run', '  '], 2, 'the request is empty'],
    ['a task without its run', ['retry', 'T1'], 2, '--run'],
    ['what is no task', ['retry', 'banana'], 2, 'r-…/T1'],
    ['an unknown place', ['path', 'attic'], 2, 'workspaces'],
    ['an unknown shell', ['completion', 'tcsh'], 2, 'bash, zsh, fish'],
    ['review without a terminal', ['review'], 2, 'needs a terminal'],
    ['a log that does not exist', ['logs'], 2, 'no log yet'],
    ['notes that do not exist', ['notes'], 2, 'no notes'],
    ['no daemon', ['status'], 6, 'orchestrator start'],
    ['no daemon for a run', ['run', 'x'], 6, 'orchestrator start'],
    ['no daemon for the digest', [], 6, 'orchestrator start'],
    ['no daemon to stop', ['stop'], 6, 'orchestrator start'],
  ])('%s', async (_name, args, code, text) => {
    const finished = await place.cli(args);
    expect(finished.stderr).toContain(text);
    expect(finished.code).toBe(code);
    expect(finished.stdout).toBe('');
  });

  test('outside a repository, in a missing directory, in a bare one', async () => {
    const outside = await place.cli(['status'], { cwd: place.directory });
    expect(outside).toMatchObject({ code: 2, stdout: '' });
    expect(outside.stderr).toMatch(/^orchestrator: .*not inside a git work tree.*-C/);
    expect((await place.cli(['-C', join(place.directory, 'gone'), 'status'])).code).toBe(2);
    mkdirSync(join(place.directory, 'bare'));
    place.git('init', '-q', '--bare', join(place.directory, 'bare'));
    expect((await place.cli(['status', '-C', '../bare'])).code).toBe(2);
  });

  test('a repository that was never set up has no daemon, and says how to begin', async () => {
    const finished = await place.cli(['status'], {
      env: { ORCHESTRATOR_STATE_DIR: '', XDG_STATE_HOME: join(place.directory, 'xdg') },
    });
    expect(finished.code).toBe(6);
    expect(finished.stderr).toContain('orchestrator init');
  });
});

describe('path and completion', () => {
  test('path as JSON, as a table, and bare', async () => {
    const places = JSON.parse((await place.cli(['path', '--json'])).stdout);
    expect(Object.keys(places)).toEqual(['state', 'env', 'workspaces', 'log', 'socket']);
    expect(places.state).toBe(place.state);
    expect((await place.cli(['path', 'env'])).stdout).toBe(`${place.state}/.env\n`);
    expect((await place.cli(['path', '-C', place.repository], { cwd: '/' })).stdout).toContain(
      `socket      ${place.state}/daemon.sock`,
    );
  });

  test('bash completes commands, subcommands and options', async () => {
    const { stdout, code } = await place.cli(['completion', 'bash']);
    expect(code).toBe(0);
    const { execFileSync } = await import('node:child_process');
    const complete = (...words: string[]) =>
      execFileSync(
        'bash',
        [
          '-c',
          `${stdout}\nCOMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _orchestrator; echo "\${COMPREPLY[*]}"`,
          'bash',
          'orchestrator',
          ...words,
        ],
        { encoding: 'utf8' },
      ).trim();
    expect(complete('re')).toBe('review report reject retry resume restore');
    expect(complete('run', '--w')).toBe('--with-wip --wait');
    expect(complete('policy', 'ex')).toBe('explain');
    expect(complete('policy', 'explain', '--std')).toBe('--stdin');
  });

  test.each(['zsh', 'fish'])('%s has every command', async (shell) => {
    const { stdout } = await place.cli(['completion', shell]);
    for (const group of VERB_GROUPS) {
      for (const verb of group.verbs) expect(stdout).toContain(verb.usage.split(' ', 1)[0]);
    }
  });
});
