/**
 * The parts of package.json and package-lock.json that nodes install from: names and versions of packages in
 * the machine's registry. Addresses, folders and repositories are rejected, and no script of a package runs,
 * because npm has the machine's settings. Pure.
 */

import { isRecord } from '../../../../apimachinery/equality.ts';
import { entryToKeep, isPackageName, isPackageRange, nodePackagesFault } from '../../api/function-lock.ts';
import { BuildError } from './build-error.ts';

const kinds = ['dependencies', 'optionalDependencies', 'devDependencies'] as const;

type Table = Readonly<Record<string, unknown>>;

function parsed(text: string, file: string): Table {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new BuildError(`${file} is not JSON: ${(error as Error).message}`);
  }
  if (!isRecord(value)) throw new BuildError(`${file} must be an object`);
  return value;
}

/**
 * Returns the package.json to install from, with the dependencies and nothing else; undefined when there is
 * nothing to install.
 */
export function packageToInstall(text: string): string | undefined {
  const given = parsed(text, 'package.json');
  const tables = kinds.map((kind) => [kind, dependencies(given[kind], kind)] as const);
  const installs = tables.some(
    ([kind, table]) => kind !== 'devDependencies' && Object.keys(table).length > 0,
  );
  if (!installs) return undefined;
  if (given.overrides !== undefined) requireNames(given.overrides, 'overrides', 0);
  if (given.workspaces !== undefined) throw new BuildError('package.json: workspaces are not installed');
  const { overrides } = given;
  const own = { name: 'function', version: '0.0.0', private: true };
  return JSON.stringify({
    ...own,
    ...Object.fromEntries(tables),
    ...(overrides !== undefined && { overrides }),
  });
}

function dependencies(table: unknown, kind: string): Table {
  if (table === undefined) return {};
  if (!isRecord(table)) throw new BuildError(`package.json: ${kind} must be an object`);
  for (const [name, range] of Object.entries(table)) {
    if (!isPackageName(name))
      throw new BuildError(`package.json: ${JSON.stringify(name)} is not the name of a package`);
    requireRange(name, range, kind);
  }
  return table;
}

function requireRange(name: string, range: unknown, where: string): void {
  if (isPackageRange(range)) return;
  const shown = JSON.stringify(range)?.slice(0, 200);
  throw new BuildError(
    `package.json: ${where} has ${name} as ${shown}: only versions of packages of the registry are installed, no addresses or folders`,
  );
}

function requireNames(overrides: unknown, where: string, depth: number): void {
  if (!isRecord(overrides) || depth > 20) throw new BuildError(`package.json: ${where} cannot be read`);
  for (const [name, value] of Object.entries(overrides)) {
    if (isRecord(value)) requireNames(value, `${where}.${name}`, depth + 1);
    // `$name` refers to the version of a direct dependency.
    else if (typeof value !== 'string' || !/^\$[@\w./~-]+$/.test(value)) requireRange(name, value, where);
  }
}

/**
 * Returns the lock without the addresses of its registry, because another machine may use another registry; a
 * hash identifies each package's content. Throws BuildError for a package that is not from a registry.
 */
export function portableLock(text: string): string {
  const lock = parsed(text, 'package-lock.json');
  const { packages, lockfileVersion } = lock;
  if (!isRecord(packages) || typeof lockfileVersion !== 'number' || lockfileVersion < 2)
    throw new BuildError('package-lock.json must have lockfileVersion 2 or 3');
  const kept = Object.fromEntries(
    Object.entries(packages).map(([path, entry]) => [path, portable(path, entry)] as const),
  );
  const fault = nodePackagesFault(kept);
  if (fault !== undefined) throw new BuildError(`package-lock.json: ${fault}`);
  const root = { name: 'function', version: '0.0.0' };
  return JSON.stringify({ ...root, lockfileVersion: 3, requires: true, packages: kept }, null, 1);
}

function portable(path: string, entry: unknown): Table {
  if (!isRecord(entry)) throw new BuildError(`package-lock.json: ${JSON.stringify(path)} cannot be read`);
  if (path === '') {
    const tables = kinds.map((kind) => [kind, dependencies(entry[kind], kind)] as const);
    const some = tables.filter(([, table]) => Object.keys(table).length > 0);
    return { name: 'function', version: '0.0.0', ...Object.fromEntries(some) };
  }
  const { resolved, link } = entry;
  const isRemote = resolved === undefined || (typeof resolved === 'string' && /^https?:\/\//.test(resolved));
  if (isRemote && link !== true) return entryToKeep(entry);
  throw new BuildError(
    `package-lock.json: ${JSON.stringify(path)} is not a package of a registry, and nothing else is installed`,
  );
}

const flags = [
  '--ignore-scripts',
  '--omit=dev',
  '--no-audit',
  '--no-fund',
  '--no-update-notifier',
  '--no-progress',
];

/**
 * Returns the command for a folder with package.json and, if there is one, the lock. It creates
 * `node_modules` and package-lock.json there.
 */
export const npmCommand = (locked: boolean): readonly string[] => [
  'npm',
  locked ? 'ci' : 'install',
  ...flags,
];
