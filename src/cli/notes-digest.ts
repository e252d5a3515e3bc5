export interface NoteEntry {
  readonly text: string;
  readonly roles: readonly string[];
  /** The steps that wrote it, as the daemon's marker names them. */
  readonly sources: readonly string[];
}

/** One entry a thought: the same text written twice, by one role or by two, is shown once with all who wrote it. */
export function digestNotes(notes: ReadonlyMap<string, string>): readonly NoteEntry[] {
  const entries = new Map<string, { text: string; roles: Set<string>; sources: Set<string> }>();
  for (const [role, file] of notes) {
    for (const [source, text] of splitEntries(file)) {
      const key = text.replace(/\s+/g, ' ').toLowerCase();
      const entry = entries.get(key) ?? { text, roles: new Set(), sources: new Set() };
      entry.roles.add(role);
      entry.sources.add(source);
      entries.set(key, entry);
    }
  }
  return [...entries.values()].map(({ text, roles, sources }) => ({ text, roles: [...roles], sources: [...sources] }));
}

/** The daemon puts `<!-- <turn key> -->` before each entry; what stands before the first is the file's own heading. */
function splitEntries(file: string): readonly (readonly [source: string, text: string])[] {
  const [, ...parts] = file.split(/^<!-- (\S+) -->$/m);
  const entries: (readonly [string, string])[] = [];
  for (let index = 0; index + 1 < parts.length; index += 2) {
    const text = (parts[index + 1] ?? '').trim();
    if (text !== '') entries.push([parts[index] ?? '', text]);
  }
  return entries;
}
