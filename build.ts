/**
 * Builds the one file, dist/minik8s: Node itself, a small main, the applications with their code caches, etcd
 * and the pause image. Needs no network. `node build.ts --assets` stops after dist/assets, which development
 * uses; `--dashboard` makes dist/assets/dashboard alone; `--write-sizes` writes the sizes of the parts to
 * docs/release.md.
 */
import { readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { architectureOf } from './config/build/architecture.ts';
import { makeAssets } from './config/build/assets.ts';
import { makeDashboard } from './config/build/dashboard.ts';
import { makeExecutable } from './config/build/executable.ts';
import { readSizes, sizesTable, withSizes } from './config/build/sizes.ts';
import { buildVersion } from './config/build/version.ts';

const root = import.meta.dirname;
const dist = join(root, 'dist');

function report(name: string, milliseconds: number): void {
  process.stdout.write(`${name}: ${(milliseconds / 1000).toFixed(1)} s\n`);
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      assets: { type: 'boolean', default: false },
      dashboard: { type: 'boolean', default: false },
      'write-sizes': { type: 'boolean', default: false },
    },
  });
  const arch = architectureOf(process.arch);
  if (values.assets) {
    const start = performance.now();
    await makeAssets({ root, outdir: join(dist, 'assets'), arch });
    report('assets', performance.now() - start);
    return;
  }
  if (values.dashboard) {
    const files = await makeDashboard(root, join(dist, 'assets/dashboard'));
    for (const { path, bytes, compressedBytes } of files)
      process.stdout.write(`${path}: ${bytes} bytes, ${compressedBytes} compressed\n`);
    return;
  }
  const version = await buildVersion(root);
  const target = join(dist, 'minik8s');
  const parts = await makeExecutable({ root, workdir: dist, arch, version, target, onStep: report });
  if (values['write-sizes']) {
    const page = join(root, 'docs/release.md');
    const table = sizesTable(await readSizes(target, parts));
    await writeFile(page, withSizes(await readFile(page, 'utf8'), table));
  }
  const { size } = await stat(target);
  process.stdout.write(`dist/minik8s ${version}, ${Math.round(size / 1e6)} MB\n`);
}

try {
  await main();
} catch (error) {
  process.stderr.write(`build failed: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}
