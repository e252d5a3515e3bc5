/**
 * A directory as git reads it in `objects/info/alternates` and in GIT_ALTERNATE_OBJECT_DIRECTORIES: as it is, or quoted
 * like a C string where it holds what separates entries there (a newline, a colon).
 */
export function alternateEntry(directory: string): string {
  if (!/[\n:]/.test(directory)) return directory;
  return `"${directory.replace(/["\\]/g, '\\$&').replaceAll('\n', '\\n')}"`;
}
