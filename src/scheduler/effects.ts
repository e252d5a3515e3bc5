import { escapeForDisplay } from '../domain/escape.ts';
import type { ObjectId } from '../domain/ids.ts';
import type { RepoPath } from '../domain/path.ts';
import { judgeChanges } from '../policy/judge.ts';
import type { JudgedChange } from '../policy/policy.ts';
import type { Write } from '../store/store.ts';
import { sortChanges } from './boundary.ts';
import { type Session, writeNote } from './session.ts';
import { undoneEffectWrites } from './violations.ts';

/** What a snapshot showed and what was done about it. */
export interface Effects {
  /** The tree after undoing what the boundary does not allow. */
  readonly tree: ObjectId;
  readonly asks: readonly JudgedChange[];
  readonly violations: number;
  /** Sentences for the agent. */
  readonly notices: readonly string[];
  readonly writes: readonly Write[];
}

/**
 * Snapshots, judges every changed path since the last accepted tree, saves what is not allowed as a patch and puts it
 * back. The saved patch comes first, so that a crash in between loses nothing: the turn is repeated from the last
 * recorded snapshot.
 */
export async function settleEffects(session: Session): Promise<Effects> {
  const { engine, workspace, acceptedTree } = session;
  const snapshot = await workspace.snapshot();
  const judged = await judgeChanges({
    changes: await workspace.changes(acceptedTree, snapshot.tree),
    role: session.step.role,
    decider: session.decider,
    linkTarget: async (change) => (await engine.git.readBlob(change.newBlob as ObjectId)).toString('utf8'),
  });
  const sorted = sortChanges(judged, session);
  const undone = [...sorted.violations, ...sorted.asks, ...sorted.notes, ...sorted.halves];
  const never = await moveNeverPaths(session, [...snapshot.neverPaths, ...snapshot.nestedRepositories]);
  if (undone.length === 0) {
    return { tree: snapshot.tree, asks: [], violations: never.count, notices: never.notices, writes: never.writes };
  }
  const paths = undone.map((change) => change.path);
  const patch = await workspace.savePatch({ from: acceptedTree, to: snapshot.tree, paths, name: patchName(session) });
  await keepNotes(session, sorted.notes);
  const tree = await putBack(session, snapshot.tree, paths);
  if (sorted.asks.length > 0) {
    session.staged = { tree: snapshot.tree, paths: sorted.asks.map((ask) => ask.path), patch };
  }
  return {
    tree,
    asks: sorted.asks,
    violations: sorted.violations.length + never.count,
    notices: [...sorted.violations.map(violationNotice), ...never.notices],
    writes: [...undoneEffectWrites(session, sorted.violations, patch), ...never.writes],
  };
}

/** The tree with `paths` as they were in the accepted tree; the workspace's files follow. */
async function putBack(session: Session, from: ObjectId, paths: readonly RepoPath[]): Promise<ObjectId> {
  const entries = new Map<RepoPath, { mode: string; blob: ObjectId } | undefined>();
  for (const path of paths) entries.set(path, await session.engine.git.entry(session.acceptedTree, path));
  const tree = await session.engine.git.withEntries(from, entries);
  await session.workspace.restore(tree, paths);
  return tree;
}

async function moveNeverPaths(
  session: Session,
  paths: readonly RepoPath[],
): Promise<{ count: number; notices: readonly string[]; writes: readonly Write[] }> {
  const writes: Write[] = [];
  const notices: string[] = [];
  for (const path of paths) {
    const verdict = session.decider.decide(session.step.role, 'create', path);
    const saved = await session.workspace.moveAside(path, patchName(session));
    const change: JudgedChange = {
      path,
      operation: 'create',
      oldMode: '000000',
      newMode: '100644',
      oldBlob: '',
      newBlob: '',
      decision: verdict.decision,
      rule: verdict.rule ?? 'nested repository',
      origin: verdict.origin,
      askClass: undefined,
    };
    writes.push(...undoneEffectWrites(session, [change], saved));
    notices.push(violationNotice(change));
  }
  return { count: paths.length, notices, writes };
}

async function keepNotes(session: Session, notes: readonly JudgedChange[]): Promise<void> {
  for (const note of notes) {
    if (note.operation === 'delete') continue;
    const text = (await session.engine.git.readBlob(note.newBlob as ObjectId)).toString('utf8');
    await writeNote(session, text, `${session.agent}:${note.newBlob.slice(0, 12)}`);
  }
}

function violationNotice(change: JudgedChange): string {
  const rule = change.rule ? ` (rule \`${change.rule}\`)` : '';
  return (
    `The change to ${escapeForDisplay(change.path)} was undone: the boundary says ${change.special ?? change.decision}${rule}. ` +
    'If it must change, write that down with append_note, or ask with request_access, and go on with what you may change.'
  );
}

/** For an effect that was undone while another question of the same turn is open: one question at a time. */
export function askNotice(change: JudgedChange): string {
  return (
    `The change to ${escapeForDisplay(change.path)} was undone: a human decides about it. ` +
    'Ask with request_access, then make it again.'
  );
}

function patchName(session: Session): string {
  const { task, role, attempt } = session.step;
  return `${task}-${role}-${attempt}-${session.engine.clock.now()}-${session.engine.random(4)}`;
}
