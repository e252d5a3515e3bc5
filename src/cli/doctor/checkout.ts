import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Check, found, noted, passed } from '../../domain/check.ts';
import type { UserRepository } from '../../git/git.ts';
import type { Io } from '../io.ts';
import type { Repository } from '../repository.ts';
import { guard } from './guard.ts';

/** What the repository is, who commits in it, and what of it `start` would refuse. */
export async function checkoutChecks(io: Io, repository: Repository): Promise<readonly Check[]> {
  return guard('repository', async () => {
    const { openUserRepository } = await import('../../git/user-repository.ts');
    const user = await openUserRepository(repository.root, { environment: io.env, clock: { now: io.now } });
    return [
      ...(await guard('repository', () => repositoryChecks(user))),
      ...(await guard('clone', () => cloneNotes(io, user))),
      await identityCheck(user),
    ];
  });
}

async function repositoryChecks(user: UserRepository): Promise<readonly Check[]> {
  const { repositoryProblems } = await import('../../git/start-check.ts');
  const problems = await repositoryProblems(user);
  const { branch } = await user.head();
  const where = branch === undefined ? 'detached HEAD' : branch.replace('refs/heads/', '');
  return [
    passed('repository', `${user.root} (${where})`),
    ...problems.map(({ about, ...problem }) => found(about, { level: 'error', ...problem })),
  ];
}

async function cloneNotes(io: Io, user: UserRepository): Promise<readonly Check[]> {
  const { findRepository } = await import('../../git/find-repository.ts');
  const located = await findRepository(user.root, { environment: io.env });
  const notes: Check[] = [];
  if (await user.isShallow()) notes.push(noted('clone', 'a shallow clone', 'agents see the history that is there'));
  if (located !== undefined && located.gitDirectory !== located.commonDirectory) {
    const cause = 'one daemon serves all of them and watches the tree in which it was started';
    notes.push(noted('clone', 'a linked worktree', cause));
  }
  const submodules = await countSubmodules(user.root);
  if (submodules > 0) {
    const cause = "agents' trees have their directories empty, and a changed one is a violation";
    notes.push(noted('clone', `${submodules} ${submodules === 1 ? 'submodule' : 'submodules'}`, cause));
  }
  return notes;
}

async function countSubmodules(root: string): Promise<number> {
  const text = await readFile(join(root, '.gitmodules'), 'utf8').catch(() => '');
  return text.match(/^\s*\[submodule /gm)?.length ?? 0;
}

async function identityCheck(user: UserRepository): Promise<Check> {
  const author = await user.author();
  if (author !== undefined) return passed('identity', `${author.name} <${author.email}>`);
  return found('identity', {
    level: 'error',
    symptom: 'git does not know who you are',
    cause: 'the commits of a run carry your name, so `run` refuses without one',
    remedy: 'git config user.name "Your Name" and git config user.email "you@example.org"',
  });
}
