/** Finds the parts of an executable and the tools that make it, as config/release/sbom.ts describes them. */
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { type Architecture, gnuProgram } from '../build/architecture.ts';
import { goLicenses } from '../build/go-program.ts';
import { bundledPackages } from '../build/licenses.ts';
import type { Part } from './sbom.ts';

const run = promisify(execFile);

/** Returns the npm packages, the Go modules, the parts of Node and the C library of the pause program. */
export async function partsOf(root: string, arch: Architecture): Promise<readonly Part[]> {
  const npm = [...bundledPackages(root, arch).values()].map((place) => packagePart(place));
  const modules = (await goLicenses(root)).map(
    ({ name, version }): Part => ({
      type: name === 'Go' ? 'generic' : 'golang',
      name: name === 'Go' ? 'go' : name,
      version,
    }),
  );
  return [...(await Promise.all(npm)), ...modules, ...nodeParts(process.versions), await cLibrary(arch)];
}

async function packagePart(place: string): Promise<Part> {
  const { name, version, license } = JSON.parse(await readFile(join(place, 'package.json'), 'utf8')) as {
    readonly name: string;
    readonly version: string;
    readonly license?: string;
  };
  return { type: 'npm', name, version, ...(license !== undefined && { license }) };
}

/** Numbers of interfaces, which are no software. */
const interfaces: ReadonlySet<string> = new Set(['modules', 'napi', 'unicode']);

/**
 * Returns the libraries inside Node. The Node that runs this has the version of those in the executables: the
 * build requires it.
 */
export function nodeParts(versions: Readonly<Record<string, string | undefined>>): readonly Part[] {
  return Object.entries(versions).flatMap(([name, version]): readonly Part[] =>
    !version || interfaces.has(name) ? [] : [{ type: 'generic', name, version }],
  );
}

/** Returns the tools that the bytes of the executable depend on. */
export async function toolsOf(root: string, arch: Architecture): Promise<readonly Part[]> {
  const [compiler, binutils] = [gnuProgram(arch, 'gcc'), gnuProgram(arch, 'strip')];
  const esbuild = await packagePart(join(root, 'node_modules/esbuild'));
  return [
    esbuild,
    { type: 'generic', name: 'gcc', version: (await run(compiler, ['-dumpfullversion'])).stdout.trim() },
    {
      type: 'generic',
      name: 'binutils',
      version: /([\d.]+)$/m.exec((await run(binutils, ['--version'])).stdout)?.[1] ?? 'unknown',
    },
  ];
}

/** Returns the C library that the compiler links statically. */
async function cLibrary(arch: Architecture): Promise<Part> {
  const header = ['-E', '-dM', '-include', 'features.h', '-x', 'c', '/dev/null'];
  const { stdout } = await run(gnuProgram(arch, 'gcc'), header);
  const number = (name: string) => new RegExp(`^#define ${name} (\\d+)$`, 'm').exec(stdout)?.[1];
  const [major, minor] = [number('__GLIBC__'), number('__GLIBC_MINOR__')];
  if (major === undefined || minor === undefined)
    throw new Error(`${gnuProgram(arch, 'gcc')} has no GNU C library, which the pause program needs`);
  return { type: 'generic', name: 'glibc', version: `${major}.${minor}` };
}
