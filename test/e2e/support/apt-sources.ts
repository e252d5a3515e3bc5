import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';

const APT = '/etc/apt';

/**
 * File name → content for a directory of apt sources that gives source packages: the archives of the machine's own
 * release, from where its binary packages come. Updates are left out, mirrors do not always hold their sources.
 */
export async function sourcePackageFiles(): Promise<ReadonlyMap<string, string>> {
  const release = await readFile('/etc/os-release', 'utf8').catch(() => '');
  const codename = /^VERSION_CODENAME=(\S+)/m.exec(release)?.[1];
  if (codename === undefined) throw new Error('this is no Debian-like system: /etc/os-release has no VERSION_CODENAME');
  const parts = await readdir(path.join(APT, 'sources.list.d')).catch(() => []);
  const names = ['sources.list', ...parts.map((part) => `sources.list.d/${part}`)];
  const texts = await Promise.all(
    names.map(async (name) => ({ name, text: await readFile(path.join(APT, name), 'utf8').catch(() => '') })),
  );
  const lines = texts.filter(({ name }) => name.endsWith('.list')).flatMap(({ text }) => asLines(text, codename));
  const stanzas = texts
    .filter(({ name }) => name.endsWith('.sources'))
    .flatMap(({ text }) => asStanzas(text, codename));
  if (lines.length + stanzas.length === 0) {
    throw new Error(`no archive of ${codename} with the component main is configured in ${APT}`);
  }
  return new Map([
    ['machine.list', [...new Set(lines)].join('\n')],
    ['machine.sources', [...new Set(stanzas)].join('\n\n')],
  ]);
}

/** `deb [options] uri suite component…` */
export function asLines(text: string, codename: string): readonly string[] {
  return text.split('\n').flatMap((line) => {
    const found = /^\s*deb(?:-src)?\s+((?:\[[^\]]*\]\s+)?)(\S+)\s+(\S+)\s+([^#]+)/.exec(line);
    const [, options = '', uri = '', suite = '', components = ''] = found ?? [];
    const isUsable = suite === codename && words(components).includes('main');
    return isUsable ? [`deb-src ${options}${uri} ${suite} main`] : [];
  });
}

/** Paragraphs of fields; a field goes on in the lines that begin with white space. */
export function asStanzas(text: string, codename: string): readonly string[] {
  return text
    .replace(/^#.*\n?/gm, '')
    .split(/\n\s*\n/)
    .filter((stanza) => {
      const isEnabled = !/^\s*(?:no|false|0)\s*$/i.test(field(stanza, 'Enabled'));
      return (
        isEnabled &&
        words(field(stanza, 'Suites')).includes(codename) &&
        words(field(stanza, 'Components')).includes('main')
      );
    })
    .map((stanza) => {
      const kept = ['URIs', 'Signed-By', 'Trusted'].flatMap((name) => {
        const value = field(stanza, name);
        return value === '' ? [] : [`${name}:${value}`];
      });
      return ['Types: deb-src', `Suites: ${codename}`, 'Components: main', ...kept].join('\n');
    });
}

function field(stanza: string, name: string): string {
  return new RegExp(`^${name}:(.*(?:\\n[ \\t].*)*)`, 'im').exec(stanza)?.[1] ?? '';
}

function words(text: string): readonly string[] {
  return text.split(/\s+/).filter((word) => word !== '');
}
