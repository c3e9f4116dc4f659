/** The assets inside the one file. An asset is made again only when one of its sources has changed. */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { copyFile, mkdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { writePack } from '../../src/dashboard/server/asset-pack.ts';
import { samplesJson } from '../../src/roles/samples/sample-files.ts';
import { type Architecture, architectures, gnuProgram } from './architecture.ts';
import { compressedOnce } from './compress.ts';
import { makeDashboard } from './dashboard.ts';
import { dockerArchive } from './docker-archive.ts';
import { fieldDocs } from './field-docs.ts';
import { buildGoProgram, type GoProgram, goLicenses, goSources } from './go-program.ts';
import { modelsPackages } from './kubernetes-models.ts';
import { licenses } from './licenses.ts';
import { replaceFile } from './replace-file.ts';
import { readSamples, samplePaths } from './samples.ts';

const run = promisify(execFile);

export interface AssetSources {
  readonly root: string;
  readonly outdir: string;
  readonly arch: Architecture;
}

/** Writes the assets to `outdir` and returns their paths by name (src/os/assets.ts reads them). */
export async function makeAssets(sources: AssetSources): Promise<Readonly<Record<string, string>>> {
  const { root, outdir, arch } = sources;
  await mkdir(outdir, { recursive: true });
  const pause = join(root, 'src/kubelet/pause/pause.c');
  const programs = join(root, 'src/features/functions/agent/programs');
  const made = {
    'etcd.zst': join(outdir, 'etcd.zst'),
    'kustomize.zst': join(outdir, 'kustomize.zst'),
    'pause.tar': join(outdir, 'pause.tar'),
    'pause.reference': join(outdir, 'pause.reference'),
    'field-docs.json': join(outdir, 'field-docs.json'),
    'dashboard.pack': join(outdir, 'dashboard.pack'),
    'licenses.txt': join(outdir, 'licenses.txt'),
    'samples.zst': join(outdir, 'samples.zst'),
    'run.py': join(outdir, 'run.py'),
    'run.mjs': join(outdir, 'run.mjs'),
  };
  await Promise.all([
    compressedProgram(sources, 'etcd', made['etcd.zst']),
    compressedProgram(sources, 'kustomize', made['kustomize.zst']),
    packDashboard(sources, made['dashboard.pack']),
    unlessNewer(made['pause.tar'], [pause, import.meta.filename], async (target) => {
      const program = `${target}.program`;
      await run(gnuProgram(arch, 'gcc'), ['-static', '-Os', '-s', '-Wall', '-Werror', '-o', program, pause]);
      const content = await readFile(program);
      await rm(program);
      // The tag is a hash of the content, so that a newer build never runs with an older image that is still
      // in Docker.
      const tag = sha256(content).slice(0, 12);
      const reference = `minik8s/pause:${tag}`;
      await writeFile(made['pause.reference'], reference);
      const { docker } = architectures[arch];
      const image = { reference, architecture: docker, name: 'pause', program: content };
      await writeFile(target, dockerArchive(image));
    }),
    unlessNewer(made['field-docs.json'], [...modelsPackages, import.meta.filename], async (target) =>
      writeFile(target, JSON.stringify(fieldDocs())),
    ),
    unlessNewer(
      made['licenses.txt'],
      [
        join(root, 'package-lock.json'),
        ...(['etcd', 'kustomize'] as const).flatMap((name) => goSources(root, name)),
        import.meta.filename,
      ],
      async (target) => writeFile(target, licenses(root, arch, await goLicenses(root))),
    ),
    packSamples(root, made['samples.zst']),
    ...(['run.py', 'run.mjs'] as const).map((name) =>
      unlessNewer(made[name], [join(programs, name)], (target) => copyFile(join(programs, name), target)),
    ),
  ]);
  const digests = join(outdir, 'digests.json');
  await replaceFile(digests, async (path) => writeFile(path, JSON.stringify(await digestsOf(made))));
  return { ...made, 'digests.json': digests };
}

/** Makes the dashboard's app, and one asset of its compressed files. */
async function packDashboard({ root, outdir }: AssetSources, target: string): Promise<void> {
  const folder = join(outdir, 'dashboard');
  const paths = (await makeDashboard(root, folder)).map(({ path }) => path).sort();
  const files = await Promise.all(
    paths.map(async (path) => {
      const compressed = await readFile(join(folder, `${path}.br`));
      return { path, compressed, digest: sha256(compressed).slice(0, 32) };
    }),
  );
  await replaceFile(target, (draft) => writeFile(draft, writePack(files)));
}

/** Makes the asset of `minik8s samples`. Its folders are sources, too: a file may have been removed. */
async function packSamples(root: string, target: string): Promise<void> {
  const paths = await samplePaths(root);
  const sources = [...new Set(paths.flatMap((path) => [path, dirname(path)]))].map((path) =>
    join(root, path),
  );
  await unlessNewer(target, [...sources, join(import.meta.dirname, 'samples.ts')], async (draft) =>
    writeFile(draft, await compressedOnce(samplesJson(await readSamples(root)))),
  );
}

/** Makes a Go program beside the asset, which tests run, and the asset from it. */
async function compressedProgram(
  { root, outdir, arch }: AssetSources,
  name: GoProgram,
  target: string,
): Promise<void> {
  const program = join(outdir, name);
  await unlessNewer(program, goSources(root, name), (path) => buildGoProgram(root, name, arch, path));
  await unlessNewer(target, [program, join(import.meta.dirname, 'compress.ts')], async (path) =>
    writeFile(path, await compressedOnce(await readFile(program))),
  );
}

async function digestsOf(files: Readonly<Record<string, string>>): Promise<Record<string, string>> {
  const digest = async ([name, path]: [string, string]) => [name, sha256(await readFile(path))] as const;
  return Object.fromEntries(await Promise.all(Object.entries(files).map(digest)));
}

function sha256(content: Uint8Array): string {
  return createHash('sha256').update(content).digest('hex');
}

/**
 * Calls `make` with a path beside `target`, and moves the result to `target`; does nothing if `target` is
 * newer than the sources.
 */
export async function unlessNewer(
  target: string,
  sources: readonly string[],
  make: (path: string) => Promise<void>,
): Promise<void> {
  const made = await modified(target);
  const changed = await Promise.all(sources.map(modified));
  const missing = sources.find((_, index) => changed[index] === undefined);
  if (missing !== undefined) throw new Error(`${missing} is missing; run bin/setup`);
  if (made !== undefined && changed.every((time = 0) => time <= made)) return;
  await mkdir(dirname(target), { recursive: true });
  await replaceFile(target, make);
}

async function modified(path: string): Promise<number | undefined> {
  try {
    return (await stat(path)).ctimeMs;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}
