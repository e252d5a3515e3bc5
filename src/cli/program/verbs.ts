import { ANSWER_VERBS } from './answer-verbs.ts';
import { DAILY_VERBS } from './daily-verbs.ts';
import { SETUP_VERBS } from './setup-verbs.ts';
import { STEER_VERBS } from './steer-verbs.ts';
import type { VerbGroup } from './verb.ts';

/** Every command, in the order of the help. */
export const VERB_GROUPS: readonly VerbGroup[] = [
  { heading: 'A day:', verbs: DAILY_VERBS },
  { heading: 'Look and answer:', verbs: ANSWER_VERBS },
  { heading: 'Steer:', verbs: STEER_VERBS },
  { heading: 'Set up:', verbs: SETUP_VERBS },
];
