/**
 * Builds the one file, dist/minik8s: Node itself, a small main, the applications with their code caches, etcd
 * and the pause image. Needs no network. `node build.ts --assets` stops after dist/assets, which development
 * uses.
 */
import { execFile } from 'node:child_process';
import { readFile, rename, rm, stat } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { parseArgs, promisify } from 'node:util';
import type { SeaOptions } from '@yao-pkg/pkg/lib-es5/sea.js';
import { makeAssets, unlessNewer } from './config/build/assets.ts';
import { type Bundles, bundle } from './config/build/bundle.ts';
import { makeNodeRuntime, nodeRuntimeSources } from './config/build/node-runtime.ts';

const run = promisify(execFile);
const require = createRequire(import.meta.url);
const root = import.meta.dirname;
const dist = join(root, 'dist');

/**
 * Returns package.json's version, with the commit unless the commit has the version's tag:
 * `0.1.0+g1a2b3c4.dirty`.
 */
async function buildVersion(): Promise<string> {
  const { version } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as { version: string };
  const git = async (...args: string[]) => (await run('git', args, { cwd: root })).stdout.trim();
  try {
    const dirty = (await git('status', '--porcelain', '--untracked-files=no')) === '' ? '' : '.dirty';
    if (dirty === '' && (await git('tag', '--points-at', 'HEAD')).split('\n').includes(`v${version}`)) {
      return version;
    }
    return `${version}+g${await git('rev-parse', '--short', 'HEAD')}${dirty}`;
  } catch {
    // An unpacked archive has no commit, nor has a machine without git.
    return version;
  }
}

/** Makes the Node program of the one file, which also makes its code cache, and returns its path. */
async function nodeRuntime(arch: string): Promise<string> {
  const node = require.resolve(`node-linux-${arch}/bin/node`);
  const target = join(dist, `cache/node-${arch}`);
  await unlessNewer(target, nodeRuntimeSources(node), (path) =>
    makeNodeRuntime({ node, arch, target: path }),
  );
  return target;
}

/** Makes the code cache of each application, and returns the applications and caches as assets, by name. */
async function withCodeCaches(
  node: string,
  applications: Bundles['applications'],
): Promise<Record<string, string>> {
  const assets: Record<string, string> = {};
  for (const [name, source] of Object.entries(applications)) {
    const cache = source.replace(/\.cjs$/, '.cache');
    await run(node, [join(root, 'config/build/warm.ts'), source, cache]);
    Object.assign(assets, { [`${name}.cjs`]: source, [`${name}.cache`]: cache });
  }
  return assets;
}

async function packageFile(node: string, main: string, assets: Record<string, string>): Promise<void> {
  // pkg's command line downloads a Node of its own; the function behind it accepts the Node of this build.
  const { default: sea } = require('@yao-pkg/pkg/lib-es5/sea.js') as {
    default: (entry: string, options: SeaOptions) => Promise<void>;
  };
  const output = join(dist, 'minik8s.new');
  const seaConfig = {
    disableExperimentalSEAWarning: true,
    useSnapshot: false,
    useCodeCache: true,
    // NODE_OPTIONS would affect the daemon without this.
    execArgvExtension: 'none',
    assets,
  };
  const target = { platform: 'linux', arch: process.arch, nodeRange: 'node26', output } as const;
  await sea(main, { nodePath: node, seaConfig, targets: [target as never] });
  await rename(output, join(dist, 'minik8s'));
}

async function timed<T>(what: string, work: Promise<T>): Promise<T> {
  const start = performance.now();
  const result = await work;
  process.stdout.write(`${what}: ${((performance.now() - start) / 1000).toFixed(1)} s\n`);
  return result;
}

async function main(): Promise<void> {
  const { values } = parseArgs({ options: { assets: { type: 'boolean', default: false } } });
  const { arch } = process;
  const assets = await timed('assets', makeAssets({ root, outdir: join(dist, 'assets'), arch }));
  if (values.assets) return;
  const version = await buildVersion();
  const node = await timed('runtime', nodeRuntime(arch));
  const bundles = await timed('bundle', bundle({ root, outdir: join(dist, 'bundle'), version }));
  const applications = await timed('code caches', withCodeCaches(node, bundles.applications));
  const all = { ...assets, ...bundles.threads, ...applications };
  await timed('package', packageFile(node, bundles.main, all));
  const { size } = await stat(join(dist, 'minik8s'));
  process.stdout.write(`dist/minik8s ${version}, ${Math.round(size / 1e6)} MB\n`);
}

try {
  await main();
} catch (error) {
  process.stderr.write(`build failed: ${error instanceof Error ? error.message : String(error)}\n`);
  await rm(join(dist, 'minik8s.new'), { force: true });
  process.exitCode = 1;
}
