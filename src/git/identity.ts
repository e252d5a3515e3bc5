import type { GitCommand } from './command.ts';

/**
 * Name and email that the user configured, undefined when git would have to guess one: `user.useConfigOnly` turns the
 * guess from login and host name into a refusal. Source: git-var(1), git-config(1) `user.useConfigOnly`.
 */
export function configuredAuthor(): GitCommand<{ name: string; email: string } | undefined> {
  return {
    args: ['-c', 'user.useConfigOnly=true', 'var', 'GIT_AUTHOR_IDENT'],
    accepts: [1, 128],
    parse: ({ exitCode, stdout }) => {
      const match = /^(.+) <([^>]+)> \d+ [+-]\d{4}\n?$/.exec(stdout.toString('utf8'));
      const [, name, email] = exitCode === 0 && match !== null ? match : [];
      return name === undefined || email === undefined ? undefined : { name, email };
    },
  };
}
