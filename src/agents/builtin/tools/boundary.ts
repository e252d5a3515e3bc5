import type { Operation, Verdict } from '../../../domain/decision.ts';
import type { RepoPath } from '../../../domain/path.ts';
import type { ToolOutcome } from '../toolbox.ts';
import type { Resolved } from '../worker/protocol.ts';
import { failed } from './outcome.ts';
import { refusalText } from './refusal.ts';
import { requestText } from './request-text.ts';
import type { ToolContext } from './tool.ts';

/** One write that a call would make. */
export interface IntendedWrite {
  readonly operation: Operation;
  /** The path as written by the agent, for what it reads about it. */
  readonly written: string;
  /** The repository paths that it is judged at; the strictest verdict holds. */
  readonly paths: readonly RepoPath[];
}

export type Judgement = { readonly kind: 'allowed' } | { readonly kind: 'stopped'; readonly outcome: ToolOutcome };

type Inside = Extract<Resolved, { place: 'inside' }>;

/** Asks the boundary before a write. Text asks pass (the merge checkpoint answers them), hard asks wait for a human. */
export async function judgeWrites(
  context: ToolContext,
  tool: string,
  writes: readonly IntendedWrite[],
): Promise<Judgement> {
  const { host } = context.assignment;
  const asks: RepoPath[] = [];
  for (const write of writes) {
    const { verdict, path } = strictestVerdict(context, write);
    if (isHardAsk(verdict)) asks.push(path);
    if (verdict.decision === 'write' || verdict.decision === 'ask') continue;
    await host.refused({ tool, path, operation: write.operation, verdict });
    return stop(
      refusalText({
        ...{ role: context.assignment.role, operation: write.operation, path, verdict },
        generatedSources: context.generatedSources,
      }),
    );
  }
  return asks.length === 0 ? { kind: 'allowed' } : answered(context, asks, requestText(context.call));
}

/** What a human said about this call, or a wish to wait for it. */
export function answered(context: ToolContext, paths: readonly RepoPath[], reason: string): Judgement {
  const answer = context.assignment.host.answerFor(context.call.id);
  switch (answer?.verdict) {
    case 'approve':
      return { kind: 'allowed' };
    case 'reject':
      return stop(
        `A human refused this for ${paths.join(', ')}: ${answer.reason} Nothing was changed. Go on without it, or write down with append_note what should change there.`,
      );
    case undefined:
      return {
        kind: 'stopped',
        outcome: { kind: 'park', park: { kind: 'boundary', paths, reason, toolCallId: context.call.id } },
      };
  }
}

/** Resolves a path that a call wants to write; one that is not in the repository is a refused attempt. */
export async function resolveForWrite(
  context: ToolContext,
  attempt: { tool: string; written: string; operation: Operation },
): Promise<{ kind: 'inside'; at: Inside } | { kind: 'stopped'; outcome: ToolOutcome }> {
  const { tool, written, operation } = attempt;
  const resolved = await context.worker.request({ op: 'resolve', path: written });
  if (resolved.place === 'inside') return { kind: 'inside', at: resolved };
  const verdict: Verdict = { decision: 'out' };
  await context.assignment.host.refused({ tool, path: written, operation, verdict });
  const { role } = context.assignment;
  return stop(refusalText({ role, operation, path: written, verdict, outside: resolved.reason }));
}

/** Writing through a link is judged at the link and where it leads. */
export function judgedPaths(at: Inside): RepoPath[] {
  return [...new Set([at.own, at.canonical])] as RepoPath[];
}

export function strictestVerdict(
  context: ToolContext,
  write: IntendedWrite,
): { readonly verdict: Verdict; readonly path: RepoPath } {
  const { host } = context.assignment;
  const judged = write.paths.map((path) => ({ path, verdict: host.decide(write.operation, path) }));
  const [first, ...others] = judged;
  if (first === undefined) return { verdict: { decision: 'out' }, path: write.written as RepoPath };
  return others.reduce((held, one) => (severity(one.verdict) > severity(held.verdict) ? one : held), first);
}

export function isHardAsk(verdict: Verdict): boolean {
  return verdict.decision === 'ask' && verdict.askClass !== 'text';
}

function severity(verdict: Verdict): number {
  switch (verdict.decision) {
    case 'write':
      return 0;
    case 'ask':
      return verdict.askClass === 'text' ? 1 : 2;
    case 'out':
      return 3;
    case 'deny':
      return 4;
    case 'generated':
      return 5;
    case 'never':
      return 6;
  }
}

function stop(text: string): { kind: 'stopped'; outcome: ToolOutcome } {
  return { kind: 'stopped', outcome: failed(text) };
}
