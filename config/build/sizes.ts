/** Sizes of the parts of an executable, as a table for docs/release.md. Pure, but for `readSizes`. */
import { stat } from 'node:fs/promises';
import type { ExecutableParts } from './executable.ts';

/** A row of the table, and the assets that it adds up. */
interface Row {
  readonly about: string;
  readonly has: (asset: string) => boolean;
}

const rows: readonly Row[] = [
  { about: 'etcd, compressed', has: (name) => name === 'etcd.zst' },
  { about: 'kustomize, compressed', has: (name) => name === 'kustomize.zst' },
  { about: 'servers: source and code cache', has: (name) => name.startsWith('server.') },
  { about: 'threads: source', has: (name) => name.endsWith('-worker.cjs') },
  { about: 'licences', has: (name) => name === 'licenses.txt' },
  { about: 'samples, compressed', has: (name) => name === 'samples.zst' },
  { about: 'pause image', has: (name) => name.startsWith('pause.') },
  { about: 'descriptions of fields', has: (name) => name === 'field-docs.json' },
  { about: 'libraries of functions', has: (name) => /^run\.(py|mjs)$/.test(name) },
  { about: 'digests of the assets', has: (name) => name === 'digests.json' },
];

/** Assets of no other row are the packs of the client. */
const client: Row = {
  about: 'client: source and code cache',
  has: (name) => /\.(cjs|cache)$/.test(name) && !rows.some((row) => row.has(name)),
};

export interface Sizes {
  /** Size of the executable in bytes. */
  readonly total: number;
  readonly node: number;
  readonly assets: Readonly<Record<string, number>>;
}

export async function readSizes(target: string, { node, assets }: ExecutableParts): Promise<Sizes> {
  const sizeOf = async (path: string) => (await stat(path)).size;
  const all = Object.entries(assets).map(async ([name, path]) => [name, await sizeOf(path)] as const);
  return {
    total: await sizeOf(target),
    node: await sizeOf(node),
    assets: Object.fromEntries(await Promise.all(all)),
  };
}

/** Returns the table in Markdown, the largest part first. Throws if an asset belongs to no row. */
export function sizesTable({ total, node, assets }: Sizes): string {
  const names = Object.keys(assets);
  const all = [...rows, client];
  const lost = names.find((name) => !all.some((row) => row.has(name)));
  if (lost !== undefined) throw new Error(`the asset ${lost} has no row in config/build/sizes.ts`);
  const sums = all.map(({ about, has }) => ({
    about,
    bytes: names.filter(has).reduce((sum, name) => sum + (assets[name] ?? 0), 0),
  }));
  const known = [{ about: 'Node without symbols', bytes: node }, ...sums];
  const rest = total - known.reduce((sum, { bytes }) => sum + bytes, 0);
  const parts = [...known, { about: 'main, and the tables of the executable', bytes: rest }];
  parts.sort((one, other) => other.bytes - one.bytes);
  const lines = [...parts, { about: 'all', bytes: total }].map(
    ({ about, bytes }) => `| ${about} | ${(bytes / 1e6).toFixed(1)} |`,
  );
  return ['| part of the executable for x64 | MB |', '| --- | --- |', ...lines, ''].join('\n');
}

const heading = '## What its parts take';

/** Returns the page with the table in its section. Throws if the section is not there. */
export function withSizes(page: string, table: string): string {
  const section = new RegExp(`^${heading}\n\n(?:\\|.*\n)+`, 'm');
  if (!section.test(page)) throw new Error(`the page has no table under "${heading}"`);
  return page.replace(section, () => `${heading}\n\n${table}`);
}
