import { Document, type YAMLSeq } from 'yaml';

/** `name:` with its globs and their comments, indented by two; nothing for a list that the profile lacks. */
export function renderList(name: string, list: YAMLSeq | undefined): string {
  if (list === undefined) return '';
  const document = new Document({});
  document.set(name, list);
  return document.toString({ lineWidth: 0, indentSeq: true });
}
