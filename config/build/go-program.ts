/**
 * The Go programs of the one file, etcd and kustomize, each built from its folder of config/ with the
 * versions in go.mod and go.sum there, and the licences of their code. Needs no network.
 */
import { execFile } from 'node:child_process';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { type Architecture, architectures } from './architecture.ts';
import { goOffline, goProgram } from './go.ts';

const execute = promisify(execFile);

/** Names of the programs, and of their folders in config/, with their sources besides Go and the modules. */
const programs = {
  etcd: ['main.go', 'log-end.go', 'go.mod', 'go.sum'],
  kustomize: ['main.go', 'go.mod', 'go.sum'],
} as const;

export type GoProgram = keyof typeof programs;

const folderOf = (root: string, program: GoProgram) => join(root, 'config', program);

/** Returns the sources of a program, besides Go and the modules in go.sum. */
export const goSources = (root: string, program: GoProgram): string[] =>
  programs[program].map((name) => join(folderOf(root, program), name));

/**
 * Builds a program to `target`: static, and without symbols. The first build takes minutes; later builds use
 * Go's cache.
 */
export async function buildGoProgram(
  root: string,
  program: GoProgram,
  arch: Architecture,
  target: string,
): Promise<void> {
  const { docker, go: level } = architectures[arch];
  const run = goIn(root, program);
  await run(['build', '-trimpath', '-buildvcs=false', '-ldflags=-s -w -buildid=', '-o', target, '.'], {
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

/** Returns the modules whose code the programs contain, and Go's own library, with their licences. */
export async function goLicenses(root: string): Promise<Licensed[]> {
  const names = Object.keys(programs) as GoProgram[];
  const found = (await Promise.all(names.map((program) => modulesOf(root, program)))).flat();
  const modules = [...new Map(found.map((each) => [`${each.name} ${each.version}`, each])).values()];
  const library = modules.find(({ name }) => name === 'golang.org/x/sys');
  if (library === undefined)
    throw new Error('no program has golang.org/x/sys, whose licence is also that of Go');
  const version = (await goIn(root, 'etcd')(['env', 'GOVERSION'])).trim().replace(/^go/, '');
  // Go's library has the same licence as the other modules of its authors. Some packages of Go lack the file.
  const all = [...modules, { ...library, name: 'Go', version }];
  return Promise.all(
    all.map(async ({ name, version, place }) => ({ name, version, text: await licenseIn(place, name) })),
  );
}

/** Returns the modules that a program contains, with their folders. */
async function modulesOf(root: string, program: GoProgram) {
  const format = '{{with .Module}}{{.Path}} {{.Version}} {{.Dir}}{{end}}';
  const packages = await goIn(root, program)(['list', '-deps', '-f', format, '.']);
  return [...new Set(packages.split('\n'))].flatMap((line) => {
    const [name, version, place] = line.split(' ');
    // The program's own module has no version.
    return name && version && place ? [{ name, version, place }] : [];
  });
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

/** Returns a function that runs Go for a program; without cgo the result contains nothing of this machine. */
const goIn =
  (root: string, program: GoProgram) =>
  async (args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<string> => {
    try {
      const { stdout } = await execute(goProgram(root), args, {
        cwd: folderOf(root, program),
        env: { ...process.env, ...goOffline, ...env },
        maxBuffer: 2 ** 24,
      });
      return stdout;
    } catch (error) {
      const { code, stderr = '' } = error as NodeJS.ErrnoException & { readonly stderr?: string };
      if (code === 'ENOENT') throw new Error(`${program} cannot be built without Go; run bin/setup`);
      const [why = ''] = stderr.trim().split('\n').slice(-1);
      throw new Error(`${program} cannot be built; if bin/setup does not help: go ${args.join(' ')}: ${why}`);
    }
  };
