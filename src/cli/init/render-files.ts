import type { Setup } from './detect-setup.ts';
import type { ShippedRole } from './roles.ts';

export interface RenderedFiles {
  /** policies/ and agent-notes/, by path in the repository. */
  readonly checkout: ReadonlyMap<string, string>;
  readonly env: string;
}

export async function renderFiles(choice: {
  readonly setup: Setup;
  readonly roles: readonly ShippedRole[];
  readonly allowSharedKey: boolean;
}): Promise<RenderedFiles> {
  const { setup, roles, allowSharedKey } = choice;
  const [{ renderPolicies }, { renderAgentNotes, renderEnvTemplate }] = await Promise.all([
    import('../../policy/render-policies.ts'),
    import('../../policy/render-templates.ts'),
  ]);
  const policies = renderPolicies({ ...setup, roles, allowSharedKey });
  return { checkout: new Map([...policies, ...renderAgentNotes(roles)]), env: renderEnvTemplate(roles) };
}
