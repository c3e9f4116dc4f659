/** Sizes of the parts of an executable, as a table for docs/release.md. Pure, but for `readSizes`. */
import { stat } from 'node:fs/promises';
import type { AssetName } from '../../src/os/assets.ts';
import type { ExecutableParts } from './executable.ts';

/** Rows of the table by asset: a new asset without a row is an error of types. */
const assetRows: Readonly<Record<AssetName | 'digests.json', string>> = {
  'etcd.zst': 'etcd, compressed',
  'kustomize.zst': 'kustomize, compressed',
  'dashboard.pack': 'dashboard, compressed',
  'samples.zst': 'samples, compressed',
  'yaml-worker.cjs': 'threads: source',
  'jsonata-worker.cjs': 'threads: source',
  'licenses.txt': 'licences',
  'pause.tar': 'pause image',
  'pause.reference': 'pause image',
  'field-docs.json': 'descriptions of fields',
  'run.py': 'libraries of functions',
  'run.mjs': 'libraries of functions',
  'digests.json': 'digests of the assets',
};

/** Returns the row of an asset; undefined if it has none. Scripts of no other row are packs of the client. */
function rowOf(asset: string): string | undefined {
  if (Object.hasOwn(assetRows, asset)) return assetRows[asset as keyof typeof assetRows];
  if (!/\.(cjs|cache)$/.test(asset)) return undefined;
  return `${asset.startsWith('server.') ? 'servers' : 'client'}: source and code cache`;
}

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
  const sums = new Map<string, number>();
  for (const [name, size] of Object.entries(assets)) {
    const about = rowOf(name);
    if (about === undefined) throw new Error(`the asset ${name} has no row in config/build/sizes.ts`);
    sums.set(about, (sums.get(about) ?? 0) + size);
  }
  const rows = [...sums].map(([about, bytes]) => ({ about, bytes }));
  const known = [{ about: 'Node without symbols', bytes: node }, ...rows];
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
