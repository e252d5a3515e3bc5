/** `agent-notes/<role>.md` for each role, by path in the repository. */
export function renderAgentNotes(roles: readonly string[]): ReadonlyMap<string, string> {
  return new Map(
    roles.map((role) => [
      `agent-notes/${role}.md`,
      `# Notes of the ${role}\n\nEntries of this role only, newest last. A human moves what is worth keeping into the repository's own documents.\n`,
    ]),
  );
}

/** The `.env` of the state directory with every name that the shipped policies refer to, and no values. */
export function renderEnvTemplate(roles: readonly string[]): string {
  const lines = [
    '# Keys and models. This file stays outside the repository, readable by you alone (mode 0600).',
    '# No quotes needed; nothing is expanded. A line here wins over the process environment.',
    '',
    '# Root of the model endpoint, without /v1.',
    'ORCH_BASE_URL=',
  ];
  for (const role of roles) {
    const suffix = role.toUpperCase().replaceAll('-', '_');
    lines.push('', `# ${role}`, `ORCH_KEY_${suffix}=`, `ORCH_MODEL_${suffix}=`);
    lines.push(`# anthropic (default) | openai-chat | openai-responses`, `#ORCH_PROTOCOL_${suffix}=anthropic`);
  }
  return `${lines.join('\n')}\n`;
}
