import type { TreeIndex } from './tree-index.ts';
import { join } from './tree-index.ts';

export type ReadText = (path: string) => Promise<string | undefined>;

/** What a project's own files say about its layout. */
export interface ProjectMetadata {
  readonly name: string | undefined;
  /** Modules that the project lists itself, without `.py`. */
  readonly modules: readonly string[];
  /** maturin's `python-source`. */
  readonly pythonSource: string | undefined;
}

/**
 * Reads the few keys that matter out of pyproject.toml, setup.cfg and setup.py as text: these files are only looked at,
 * and setup.py must never be run.
 */
export async function readMetadata(tree: TreeIndex, root: string, readText: ReadText): Promise<ProjectMetadata> {
  const read = async (name: string): Promise<string> => {
    const path = join(root, name);
    return tree.has(path) ? withoutComments((await readText(path)) ?? '') : '';
  };
  const [pyproject, config, setup] = [await read('pyproject.toml'), await read('setup.cfg'), await read('setup.py')];
  const project = /^\[project\]\s*$(.*?)(?=^\[|(?![\s\S]))/msu.exec(pyproject)?.[1] ?? '';
  const name =
    quoted(/^name\s*=\s*(["'][^"']+["'])/mu.exec(project)) ??
    /^name\s*=\s*(\S+)/mu.exec(config)?.[1] ??
    quoted(/\bname\s*=\s*(["'][^"']+["'])/u.exec(setup));
  return {
    name,
    modules: [
      ...strings(/^py-modules\s*=\s*\[(.*?)\]/msu.exec(pyproject)?.[1]),
      ...(/^py_modules\s*=\s*((?:.*\n?)(?:[ \t]+\S.*\n?)*)/mu.exec(config)?.[1] ?? '').split(/[\s,]+/u).filter(Boolean),
      ...strings(/\bpy_modules\s*=\s*[[(](.*?)[\])]/su.exec(setup)?.[1]),
    ],
    pythonSource: quoted(/^python-source\s*=\s*(["'][^"']+["'])/mu.exec(pyproject)),
  };
}

function withoutComments(text: string): string {
  return text.replace(/\r/g, '').replace(/^\s*#.*$/gmu, '');
}

function quoted(match: RegExpExecArray | null): string | undefined {
  return match?.[1]?.slice(1, -1);
}

function strings(list: string | undefined): readonly string[] {
  return [...(list ?? '').matchAll(/["']([^"']+)["']/gu)].map((match) => match[1] ?? '');
}
