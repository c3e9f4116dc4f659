/**
 * Makes the executable for one architecture: Node itself, a small main, the applications with their code
 * caches, and the assets. The same sources and tools give the same bytes, in any directory and at any time:
 * the file contains neither of them.
 */
import { execFile } from 'node:child_process';
import { chmod, mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, join, relative } from 'node:path';
import { promisify } from 'node:util';
import { type Architecture, emulatorFor } from './architecture.ts';
import { makeAssets, unlessNewer } from './assets.ts';
import { type Bundles, bundle } from './bundle.ts';
import { type CachedScript, makeCodeCaches } from './code-cache.ts';
import { nodeProgram } from './node-program.ts';
import { makeNodeRuntime, nodeRuntimeSources } from './node-runtime.ts';
import { startUsualCommands } from './usual-commands.ts';

const run = promisify(execFile);

export interface ExecutableSources {
  readonly root: string;
  /** Directory for the parts of the executable; parts that are up to date are not made again. */
  readonly workdir: string;
  readonly arch: Architecture;
  readonly version: string;
  /** Path of the executable to write. */
  readonly target: string;
  /** Called with the name and the duration of each step. */
  readonly onStep?: (name: string, milliseconds: number) => void;
}

/** Paths of the files of which an executable consists. */
export interface ExecutableParts {
  readonly node: string;
  /** Paths of the assets by name. */
  readonly assets: Readonly<Record<string, string>>;
}

/**
 * Writes the executable to `target`, with mode 0755, and returns its parts. Throws the errors of the tools
 * that it runs.
 */
export async function makeExecutable(sources: ExecutableSources): Promise<ExecutableParts> {
  const { root, workdir, arch, version, target } = sources;
  const timed = async <T>(name: string, work: () => Promise<T>): Promise<T> => {
    const start = performance.now();
    const result = await work();
    sources.onStep?.(name, performance.now() - start);
    return result;
  };
  const assets = await timed('assets', () => makeAssets({ root, outdir: join(workdir, 'assets'), arch }));
  const node = await timed('runtime', () => nodeRuntime(root, workdir, arch));
  const bundles = await timed('bundle', () => bundle({ root, outdir: join(workdir, 'bundle'), version }));
  const applications = await timed('code caches', () =>
    withCodeCaches([...emulatorFor(arch), node], bundles),
  );
  const all = { ...assets, ...bundles.threads, ...applications };
  // Node itself writes the executable, so the one that runs must be of this machine's architecture.
  const writer = arch === process.arch ? node : nodeProgram(root, process.arch as Architecture);
  await timed('package', () => packageFile({ writer, node, main: bundles.main, assets: all, target }));
  return { node, assets: all };
}

/** Makes the Node program of the executable, which also makes its code caches, and returns its path. */
async function nodeRuntime(root: string, workdir: string, arch: Architecture): Promise<string> {
  const node = nodeProgram(root, arch);
  const target = join(workdir, `cache/node-${arch}`);
  await unlessNewer(target, nodeRuntimeSources(node), (path) =>
    makeNodeRuntime({ node, arch, target: path }),
  );
  return target;
}

const warmServer = join(import.meta.dirname, 'warm-server.ts');
const warmClient = join(import.meta.dirname, 'warm-client.ts');

/** Makes the code caches of the applications, and returns applications and caches as assets, by name. */
async function withCodeCaches(
  node: readonly string[],
  { server, client }: Bundles,
): Promise<Record<string, string>> {
  const cacheOf = (source: string): CachedScript => ({ source, cache: source.replace(/\.cjs$/, '.cache') });
  const serverCache = cacheOf(server);
  await makeCodeCaches(node, [warmServer, server, serverCache.cache], [serverCache]);
  const packs = Object.entries(client).map(([name, source]) => ({ name, ...cacheOf(source) }));
  const usual = await startUsualCommands();
  try {
    const words = [warmClient, dirname(packs[0]?.source ?? ''), JSON.stringify(usual.commands)];
    await makeCodeCaches(node, words, packs, usual.env);
  } finally {
    await usual.stop();
  }
  const assets: Record<string, string> = {};
  for (const { name, source, cache } of [{ name: 'server', ...serverCache }, ...packs])
    Object.assign(assets, { [`${name}.cjs`]: source, [`${name}.cache`]: cache });
  return assets;
}

interface Package {
  /** Path of the Node that writes the executable. */
  readonly writer: string;
  /** Path of the Node inside. */
  readonly node: string;
  readonly main: string;
  readonly assets: Readonly<Record<string, string>>;
  readonly target: string;
}

/** Writes the executable. It contains the path of main as in the configuration, so all paths are relative. */
async function packageFile({ writer, node, main, assets, target }: Package): Promise<void> {
  const folder = dirname(main);
  const draft = `${target}.new`;
  const config = join(folder, `${basename(target)}.json`);
  const settings = {
    main: basename(main),
    executable: relative(folder, node),
    output: relative(folder, draft),
    disableExperimentalSEAWarning: true,
    useSnapshot: false,
    // Its code cache would differ from build to build; main is too small for it to matter.
    useCodeCache: false,
    // NODE_OPTIONS would affect the daemon without this.
    execArgvExtension: 'none',
    // Node would read all public authorities in every process that uses TLS (src/base/public-authorities.ts).
    // V8 compiles and collects in four threads by default, which costs a short command 8 ms.
    execArgv: ['--use-openssl-ca', '--v8-pool-size=2'],
    assets: Object.fromEntries(Object.entries(assets).map(([name, path]) => [name, relative(folder, path)])),
  };
  await mkdir(dirname(target), { recursive: true });
  await writeFile(config, JSON.stringify(settings));
  try {
    await run(writer, ['--build-sea', basename(config)], { cwd: folder });
    await chmod(draft, 0o755);
    await rename(draft, target);
  } finally {
    await rm(draft, { force: true });
  }
}
