import { isAlias, isMap, isScalar, isSeq, LineCounter, type Node, parseDocument, visit } from 'yaml';
import type { Problem } from './policy.ts';

export type YamlPath = readonly (string | number)[];
export interface Place {
  readonly file: string;
  readonly line: number;
  readonly column: number;
}

/** A YAML file as plain data that remembers where each value stands. */
export interface YamlSource {
  readonly value: unknown;
  /** Place of a value, or of its nearest parent that the file has. */
  placeOf(path: YamlPath): Place;
  /** Place of a key itself. */
  placeOfKey(path: YamlPath): Place;
  has(path: YamlPath): boolean;
}

/** Turns a text scalar into the value that counts, or says why it can't. */
export type ReadScalar = (text: string, path: YamlPath) => { readonly value: unknown } | { readonly problem: string };

/**
 * Reads one YAML document of plain maps, lists and scalars. Anchors, tags, byte order marks, repeated keys and second
 * documents are problems, since what a person reads there is not what counts.
 */
export function readYaml(
  text: string,
  file: string,
  readScalar: ReadScalar,
): { readonly source: YamlSource | undefined; readonly problems: readonly Problem[] } {
  const lines = new LineCounter();
  const problems: Problem[] = [];
  const report = (offset: number, message: string): void => {
    const { line, col } = lines.linePos(offset);
    problems.push({ severity: 'error', file, line: Math.max(line, 1), column: Math.max(col, 1), message });
  };
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false, uniqueKeys: true, version: '1.2' });
  if (text.startsWith('\uFEFF')) report(0, 'begins with a byte order mark: save the file as UTF-8 without it');
  for (const issue of [...document.errors, ...document.warnings]) report(issue.pos[0], yamlMessage(issue));
  visit(document, {
    Node(_, node) {
      const offset = node.range?.[0] ?? 0;
      if (isAlias(node) || ('anchor' in node && node.anchor))
        report(offset, 'anchors and aliases are not allowed: write the value out');
      else if (node.tag !== undefined && !PLAIN_TAGS.has(node.tag))
        report(offset, 'tags are not allowed: write a plain value');
    },
  });
  if (problems.length > 0) return { source: undefined, problems };
  if (!isMap(document.contents)) {
    report(0, document.contents === null ? 'is empty' : 'must be a map of `name: value` lines');
    return { source: undefined, problems };
  }
  const reader: Reader = { places: new Map(), keys: new Map(), report, readScalar };
  const value = toValue(document.contents, [], reader);
  return { source: problems.length > 0 ? undefined : asSource(value, file, lines, reader), problems };
}

interface Reader {
  readonly places: Map<string, number>;
  readonly keys: Map<string, number>;
  readonly report: (offset: number, message: string) => void;
  readonly readScalar: ReadScalar;
}

const PLAIN_TAGS = new Set(['tag:yaml.org,2002:map', 'tag:yaml.org,2002:seq', 'tag:yaml.org,2002:str']);

function yamlMessage(issue: { readonly code: string; readonly message: string }): string {
  if (issue.code === 'DUPLICATE_KEY') return 'the same key stands twice in one map';
  if (issue.code === 'MULTIPLE_DOCS') return 'holds a second document (`---`): one file is one policy';
  if (issue.code === 'TAB_AS_INDENT') return 'is indented with a tab: YAML indents with spaces';
  return `is not valid YAML: ${issue.message}`;
}

function toValue(node: Node | null, path: YamlPath, reader: Reader): unknown {
  if (node === null) return null;
  reader.places.set(JSON.stringify(path), node.range?.[0] ?? 0);
  if (isSeq<Node | null>(node)) return node.items.map((item, index) => toValue(item, [...path, index], reader));
  if (isMap<Node, Node | null>(node)) {
    const entries: [string, unknown][] = [];
    for (const pair of node.items) {
      const offset = pair.key.range?.[0] ?? 0;
      if (!isScalar(pair.key) || typeof pair.key.value !== 'string') {
        reader.report(offset, 'a key must be plain text');
        continue;
      }
      const inner = [...path, pair.key.value];
      reader.keys.set(JSON.stringify(inner), offset);
      entries.push([pair.key.value, toValue(pair.value, inner, reader)]);
    }
    // Own properties only, `__proto__` included.
    return Object.fromEntries(entries);
  }
  return isScalar(node) ? scalarValue(node.value, node, path, reader) : null;
}

function scalarValue(
  value: unknown,
  node: Node & { readonly source?: string },
  path: YamlPath,
  reader: Reader,
): unknown {
  // 0x10, 0o7, .inf: numbers are written in decimal here, so anything else stays text and is refused by its field.
  if (typeof value === 'number' && !/^-?\d+(\.\d+)?(e\d+)?$/iu.test(node.source ?? '')) return node.source ?? '';
  if (typeof value !== 'string') return value;
  const read = reader.readScalar(value, path);
  if ('value' in read) return read.value;
  reader.report(node.range?.[0] ?? 0, read.problem);
  return undefined;
}

function asSource(value: unknown, file: string, lines: LineCounter, reader: Reader): YamlSource {
  const place = (offset: number): Place => {
    const { line, col } = lines.linePos(offset);
    return { file, line: Math.max(line, 1), column: Math.max(col, 1) };
  };
  const placeOf = (path: YamlPath): Place => {
    for (let length = path.length; length >= 0; length -= 1) {
      const key = JSON.stringify(path.slice(0, length));
      const offset = reader.places.get(key) ?? reader.keys.get(key);
      if (offset !== undefined) return place(offset);
    }
    return place(0);
  };
  return {
    value,
    placeOf,
    placeOfKey(path) {
      const offset = reader.keys.get(JSON.stringify(path));
      return offset === undefined ? placeOf(path) : place(offset);
    },
    has: (path) => reader.places.has(JSON.stringify(path)) || reader.keys.has(JSON.stringify(path)),
  };
}
