/**
 * What git may inherit from the user's environment: where configuration, identity and git itself are. Everything else
 * stays out, above all GIT_DIR, GIT_INDEX_FILE and friends, which point elsewhere when we are started from a hook.
 */
export function userEnvironment(
  environment: Readonly<Record<string, string | undefined>>,
): Readonly<Record<string, string>> {
  const kept: Record<string, string> = {};
  for (const [name, value] of Object.entries(environment)) {
    if (
      value !== undefined &&
      (KEPT.has(name) || name.startsWith('GIT_CONFIG_KEY_') || name.startsWith('GIT_CONFIG_VALUE_'))
    ) {
      kept[name] = value;
    }
  }
  return { ...kept, LC_ALL: 'C', GIT_OPTIONAL_LOCKS: '0', GIT_TERMINAL_PROMPT: '0' };
}

/** Our commands run no hook, start no file system monitor and no maintenance in the user's repository. */
export const USER_CONFIG: readonly string[] = [
  'core.hooksPath=/dev/null',
  'core.fsmonitor=false',
  'core.splitIndex=false',
  'core.untrackedCache=false',
  'gc.auto=0',
  'maintenance.auto=false',
];

const KEPT: ReadonlySet<string> = new Set([
  'PATH',
  'HOME',
  'XDG_CONFIG_HOME',
  'USER',
  'LOGNAME',
  'EMAIL',
  'TMPDIR',
  'GIT_AUTHOR_NAME',
  'GIT_AUTHOR_EMAIL',
  'GIT_COMMITTER_NAME',
  'GIT_COMMITTER_EMAIL',
  'GIT_CONFIG_GLOBAL',
  'GIT_CONFIG_SYSTEM',
  'GIT_CONFIG_NOSYSTEM',
  'GIT_CONFIG_COUNT',
]);
