import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { sizesTable, withSizes } from '../../config/build/sizes.ts';

const assets = {
  ...{
    'etcd.zst': 7_250_000,
    'kustomize.zst': 4_600_000,
    'server.cjs': 5_000_000,
    'server.cache': 6_000_000,
  },
  ...{ 'objects.cjs': 1_000_000, 'objects.cache': 1_500_000, 'yaml-worker.cjs': 200_000 },
};

test('the table of sizes begins with the largest part, and has a row for the rest', () => {
  const lines = sizesTable({ total: 142_000_000, node: 116_400_000, assets }).split('\n');
  assert.deepEqual(lines.slice(2, 8), [
    '| Node without symbols | 116.4 |',
    '| servers: source and code cache | 11.0 |',
    '| etcd, compressed | 7.3 |',
    '| kustomize, compressed | 4.6 |',
    '| client: source and code cache | 2.5 |',
    '| threads: source | 0.2 |',
  ]);
  assert.ok(lines.includes('| main, and the tables of the executable | 0.1 |'));
  assert.equal(lines.at(-2), '| all | 142.0 |');
});

test('the dashboard and the samples have rows in the table of sizes', () => {
  const own = { 'dashboard.pack': 400_000, 'samples.zst': 45_000 };
  const lines = sizesTable({ total: 1_000_000, node: 500_000, assets: own }).split('\n');
  assert.ok(lines.includes('| dashboard, compressed | 0.4 |'), lines.join('\n'));
  assert.ok(lines.includes('| samples, compressed | 0.0 |'), lines.join('\n'));
});

test('an asset without a row in the table of sizes fails the build', () => {
  const more = { ...assets, 'other.bin': 1 };
  assert.throws(() => sizesTable({ total: 1, node: 1, assets: more }), /the asset other.bin has no row/);
});

test('docs/release.md has a place for the table of sizes, which keeps the text around it', () => {
  const page = readFileSync(join(import.meta.dirname, '../../docs/release.md'), 'utf8');
  const own = withSizes(page, '| new |\n');
  assert.match(own, /## What its parts take\n\n\| new \|\n\n`node build.ts --write-sizes`/);
  assert.equal(withSizes(own, '| other |\n').replace('| other |', '| new |'), own);
  assert.throws(() => withSizes('# Page\n', ''), /the page has no table/);
});
