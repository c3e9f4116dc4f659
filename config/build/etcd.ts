/**
 * The etcd of the one file, built from config/etcd with the versions in its go.mod and go.sum, and the
 * licences of its code. Needs no network.
 */
import { execFile } from 'node:child_process';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { type Architecture, architectures } from './architecture.ts';
import { goOffline, goProgram } from './go.ts';

const run = promisify(execFile);

/** Returns its sources, besides Go and the modules in go.sum. */
export const etcdSources = (root: string) =>
  ['main.go', 'log-end.go', 'go.mod', 'go.sum'].map((name) => join(root, 'config/etcd', name));

/**
 * Builds it to `target`: one static program without symbols. The first build takes minutes; later builds use
 * Go's cache.
 */
export async function buildEtcd(root: string, arch: Architecture, target: string): Promise<void> {
  const { docker, go: level } = architectures[arch];
  await go(root, ['build', '-trimpath', '-buildvcs=false', '-ldflags=-s -w -buildid=', '-o', target, '.'], {
    GOOS: 'linux',
    GOARCH: docker,
    ...level,
  });
}

export interface Licensed {
  readonly name: string;
  readonly version: string;
  readonly text: string;
}

/** Returns the modules whose code it contains, and Go's own library, with their licences. */
export async function etcdLicenses(root: string): Promise<Licensed[]> {
  const format = '{{with .Module}}{{.Path}} {{.Version}} {{.Dir}}{{end}}';
  const packages = await go(root, ['list', '-deps', '-f', format, '.']);
  const modules = [...new Set(packages.split('\n'))].flatMap((line) => {
    const [name, version, place] = line.split(' ');
    // The program's own module has no version.
    return name && version && place ? [{ name, version, place }] : [];
  });
  const library = modules.find(({ name }) => name === 'golang.org/x/sys');
  if (library === undefined)
    throw new Error('the modules of etcd hold none of Go: where is its licence now?');
  const version = (await go(root, ['env', 'GOVERSION'])).trim().replace(/^go/, '');
  // Go's library has the same licence as the other modules of its authors. Some packages of Go lack the file.
  const all = [...modules, { ...library, name: 'Go', version }];
  return Promise.all(
    all.map(async ({ name, version, place }) => ({ name, version, text: await licenseIn(place, name) })),
  );
}

/** Returns all licences and notices of a module: some modules have several files. */
async function licenseIn(place: string, name: string): Promise<string> {
  const files = (await readdir(place))
    .filter((entry) => /^(licen[cs]e|copying|notice|patents)(\.|-|$)/i.test(entry))
    .sort();
  if (!files.some((file) => !/^(notice|patents)/i.test(file)))
    throw new Error(`${name} has no licence in ${place}`);
  const texts = await Promise.all(files.map((file) => readFile(join(place, file), 'utf8')));
  return texts.map((text) => text.trim()).join('\n\n');
}

/** Runs Go in config/etcd; without cgo the result contains nothing of this machine. */
async function go(root: string, args: readonly string[], env: Readonly<Record<string, string>> = {}) {
  try {
    const { stdout } = await run(goProgram(root), args, {
      cwd: join(root, 'config/etcd'),
      env: { ...process.env, ...goOffline, ...env },
      maxBuffer: 2 ** 24,
    });
    return stdout;
  } catch (error) {
    const { code, stderr = '' } = error as NodeJS.ErrnoException & { readonly stderr?: string };
    if (code === 'ENOENT') throw new Error('etcd cannot be built without Go; run bin/setup');
    const [why = ''] = stderr.trim().split('\n').slice(-1);
    throw new Error(`etcd cannot be built; if bin/setup does not help: go ${args.join(' ')}: ${why}`);
  }
}
