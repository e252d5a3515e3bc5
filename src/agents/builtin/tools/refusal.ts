import type { Decision, Operation, Verdict } from '../../../domain/decision.ts';
import { generatorOf } from '../../../policy/generators.ts';

/** What a role reads when a write is refused: decision, rule, origin, and what to do instead. */
export function refusalText(refusal: {
  role: string;
  operation: Operation;
  path: string;
  verdict: Verdict;
  /** Why it can't be a path of the repository, when that is what decided. */
  outside?: string | undefined;
  generatedSources?: readonly { readonly output: string; readonly command: string }[];
}): string {
  const { role, operation, path, verdict } = refusal;
  const rule = verdict.rule === undefined ? '' : `, rule ${verdict.rule}`;
  const origin = verdict.origin === undefined ? '' : `, ${verdict.origin}`;
  const outside = refusal.outside === undefined ? '' : `, ${refusal.outside}`;
  const source = verdict.decision === 'generated' ? generatorOf(refusal.generatedSources ?? [], path) : undefined;
  const command = source === undefined ? '' : ` It is made by \`${source.command}\`.`;
  return (
    `Refused: the role ${role} may not ${operation} ${path} (decision ${verdict.decision}${rule}${origin}${outside}). ` +
    `Nothing was changed. ${INSTEAD[verdict.decision]}${command}`
  );
}

const NOTE = 'Write down what should change there with append_note and go on with what you may do';
const INSTEAD = {
  never: `No role writes there. ${NOTE}.`,
  generated: `It is generated: change its source instead, or ${NOTE.charAt(0).toLowerCase()}${NOTE.slice(1)}.`,
  deny: `It belongs to somebody else. ${NOTE}.`,
  out: `It is outside of this role's globs. ${NOTE}.`,
  ask: `A human decides about it: ask with request_access, or ${NOTE.charAt(0).toLowerCase()}${NOTE.slice(1)}.`,
  write: '',
} as const satisfies Record<Decision, string>;
