import type { ListVariables } from './list-variables.ts';
import type { ProfileName } from './profile-file.ts';

/** What `init` found out and was told. */
export interface PolicyChoice {
  readonly profile: ProfileName;
  /** As detected; derived variables need not be there. */
  readonly vars: ListVariables;
  readonly inventoryHash: string;
  /** Roles in the order of the pipeline. */
  readonly roles: readonly string[];
  readonly allowSharedKey: boolean;
  /** A plain command that runs the tests named after it; roles that run commands may. */
  readonly testCommand?: string | undefined;
  readonly verify: { readonly environment?: string; readonly quick?: string; readonly full?: string };
}
