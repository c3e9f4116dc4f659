/** The licences of everything in the one file. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Architecture } from './architecture.ts';
import type { Licensed } from './go-program.ts';
import { nodeProgram } from './node-program.ts';

interface PackageFile {
  readonly name: string;
  readonly version: string;
  readonly license?: string;
  readonly dependencies?: Readonly<Record<string, string>>;
}

/**
 * Packages whose texts are in the one file although their code is not. Kubernetes' own licence is that of its
 * client.
 */
const quoted = ['@kubernetes/client-node', 'kubernetes-models'];

/**
 * Returns one text: minik8s' own licence, then a section for each package of which the file may contain
 * parts, and for each of `others`.
 */
export function licenses(root: string, arch: Architecture, others: readonly Licensed[]): string {
  const own = readFileSync(join(root, 'LICENSE'), 'utf8');
  const packages = [...bundledPackages(root, arch)].map(([, place]) => packageSection(place));
  const more = others.map(({ name, version, text }) => section(`${name} ${version}`, text));
  return [section('minik8s', own), ...packages.sort(), ...more.sort()].join('');
}

/**
 * Returns the directories of the packages of which the file may contain parts, by name and version: the
 * direct dependencies, their dependencies, and Node for the architecture.
 */
export function bundledPackages(root: string, arch: Architecture): Map<string, string> {
  const found = new Map<string, string>();
  const runtime = dirname(dirname(nodeProgram(root, arch)));
  const { name, version } = readPackage(runtime);
  found.set(`${name} ${version}`, runtime);
  const visit = (names: readonly string[], from: string) => {
    for (const name of names.filter((each) => !/^node-linux-/.test(each))) {
      const place = locate(name, from);
      if (place === undefined) continue;
      const { version, dependencies = {} } = readPackage(place);
      const key = `${name} ${version}`;
      if (found.has(key)) continue;
      found.set(key, place);
      visit(Object.keys(dependencies), place);
    }
  };
  visit(Object.keys(readPackage(root).dependencies ?? {}), root);
  for (const name of quoted) {
    const place = locate(name, root);
    if (place === undefined) throw new Error(`${name} is missing; run bin/setup`);
    found.set(name, place);
  }
  return found;
}

/** Finds a package as Node does; undefined for an optional package that is not for this machine. */
function locate(name: string, from: string): string | undefined {
  for (let directory = from; ; directory = dirname(directory)) {
    const place = join(directory, 'node_modules', name);
    if (existsSync(join(place, 'package.json'))) return place;
    if (directory === dirname(directory)) return undefined;
  }
}

function packageSection(place: string): string {
  const { name, version, license = 'not named' } = readPackage(place);
  const file = readdirSync(place).find((entry) => /^licen[cs]e(\.|-|$)/i.test(entry));
  const text = file === undefined ? `License: ${license}` : readFileSync(join(place, file), 'utf8');
  return section(`${name} ${version}`, text);
}

const readPackage = (place: string) =>
  JSON.parse(readFileSync(join(place, 'package.json'), 'utf8')) as PackageFile;

const section = (title: string, text: string) => `${'='.repeat(80)}\n${title}\n\n${text.trim()}\n\n`;
