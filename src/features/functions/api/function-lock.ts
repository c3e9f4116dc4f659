/**
 * Allowed content of status.lock of a FunctionVersion. One node writes it and every other node installs from
 * it, so it only has names, versions and hashes of packages in the machine's index: no options, addresses,
 * files or repositories. Pure.
 */
import { isRecord } from '../../../apimachinery/equality.ts';
import type { runtimes } from './function-fields.ts';

/** Maximum bytes: an object must fit into the store with its files. */
export const maxLock = 400_000;

const pinned =
  /^[A-Za-z0-9](?:[A-Za-z0-9._-]{0,213}[A-Za-z0-9])?==[A-Za-z0-9][A-Za-z0-9.+!_-]{0,200}(?: --hash=sha256:[0-9a-f]{64})+$/;
const maxLineLength = 20_000;

/** Returns the problem of a lock; undefined for none. */
export function lockFault(runtime: (typeof runtimes)[number], lock: string): string | undefined {
  if (Buffer.byteLength(lock) > maxLock) return `it has more than ${maxLock} bytes`;
  return runtime === 'python' ? pythonFault(lock) : nodeFault(lock);
}

const shown = (text: string) => JSON.stringify(text.length > 200 ? `${text.slice(0, 200)}…` : text);

function pythonFault(lock: string): string | undefined {
  const bad = lock
    .split('\n')
    .find((line) => line !== '' && (line.length > maxLineLength || !pinned.test(line)));
  return bad === undefined ? undefined : `${shown(bad)} is not NAME==VERSION --hash=sha256:…`;
}

function nodeFault(lock: string): string | undefined {
  let value: unknown;
  try {
    value = JSON.parse(lock);
  } catch {
    return 'it is not JSON';
  }
  if (!isRecord(value) || value.lockfileVersion !== 3 || !isRecord(value.packages))
    return 'it is not a package-lock.json of lockfileVersion 3';
  const other = Object.keys(value).find((key) => !lockKeys.has(key));
  if (other !== undefined) return `it has the unknown key ${shown(other)}`;
  return nodePackagesFault(value.packages);
}

const lockKeys = new Set(['name', 'version', 'lockfileVersion', 'requires', 'packages']);

type Table = Readonly<Record<string, unknown>>;

/** Tables of names and versions that npm reads. */
const edgeTables = ['dependencies', 'optionalDependencies', 'peerDependencies', 'devDependencies'] as const;
/** Keys of a package in a lock that npm requires; none of them names a download source. */
const entryKeys = new Set<string>([
  ...[
    'name',
    'version',
    'integrity',
    'dev',
    'optional',
    'devOptional',
    'peer',
    'inBundle',
    'hasInstallScript',
  ],
  ...['bin', 'engines', 'os', 'cpu', 'libc', 'license', 'deprecated', 'funding'],
  ...['bundleDependencies', 'peerDependenciesMeta'],
  ...edgeTables,
]);

/** Returns the entry without the keys that a lock does not need. */
export const entryToKeep = (entry: Table): Table =>
  Object.fromEntries(Object.entries(entry).filter(([key]) => entryKeys.has(key)));

const packageName = /^(?:@[a-z0-9~-][a-z0-9._~-]*\/)?[a-zA-Z0-9~-][a-zA-Z0-9._~-]*$/;
/**
 * A range of versions, a tag, or another package with `npm:`. npm reads a text that begins with a dot as a
 * folder.
 */
const range =
  /^(?!\.)(?:npm:(?:@[a-z0-9~-][a-z0-9._~-]*\/)?[a-zA-Z0-9~-][a-zA-Z0-9._~-]*@?)?[\w.*^~<>=|,+ -]*$/;
const archive = /\.(?:tgz|tar|tar\.gz)$/i;
const exact = /^\d+\.\d+\.\d+(?:-[0-9A-Za-z.-]+)?(?:\+[0-9A-Za-z.-]+)?$/;
const integrity = /^(?:sha(?:1|256|384|512)-[A-Za-z0-9+/]+={0,2}(?: |$))+$/;
const below = /^node_modules\/(?!.*(?:^|\/)\.\.?(?:\/|$))/;

export const isPackageName = (name: string): boolean => name.length <= 214 && packageName.test(name);

/** Returns true for a package of the registry; false for an address, folder or archive. */
export const isPackageRange = (text: unknown): text is string =>
  typeof text === 'string' && text.length <= 500 && range.test(text) && !archive.test(text.trim());

/**
 * Returns the problem of the packages of a package-lock.json, which are keyed by folder; undefined for none.
 */
export function nodePackagesFault(packages: Table): string | undefined {
  for (const [path, entry] of Object.entries(packages)) {
    const fault = isRecord(entry) ? entryFault(path, entry, packages) : 'cannot be read';
    if (fault !== undefined) return `${shown(path)} ${fault}`;
  }
  return undefined;
}

function entryFault(path: string, entry: Table, packages: Table): string | undefined {
  const other = Object.keys(entry).find((key) => !entryKeys.has(key));
  if (other !== undefined) return `has the unknown key ${shown(other)}`;
  for (const table of edgeTables) {
    const fault = edgesFault(entry[table] ?? {}, table);
    if (fault !== undefined) return fault;
  }
  return path === '' ? undefined : packageFault(path, entry, packages);
}

function packageFault(path: string, entry: Table, packages: Table): string | undefined {
  if (!below.test(path)) return 'is not a folder below node_modules';
  if (entry.name !== undefined && !(typeof entry.name === 'string' && isPackageName(entry.name)))
    return 'has a name that is not the name of a package';
  // Otherwise npm would download from an address in place of the version.
  if (!isShort(entry.version, 256) || !exact.test(entry.version)) return 'has no exact version';
  if (isShort(entry.integrity, 1000) && integrity.test(entry.integrity)) return undefined;
  const isBundled = entry.inBundle === true && entry.integrity === undefined && isBelowBundle(path, packages);
  return isBundled ? undefined : 'has no hash';
}

const isShort = (value: unknown, maxLength: number): value is string =>
  typeof value === 'string' && value.length <= maxLength;

function edgesFault(table: unknown, where: string): string | undefined {
  if (!isRecord(table)) return `has ${where} that cannot be read`;
  const bad = Object.entries(table).find(([name, wanted]) => !isPackageName(name) || !isPackageRange(wanted));
  return (
    bad &&
    `has ${shown(bad[0])} in ${where} as ${shown(JSON.stringify(bad[1]) ?? '')}: no address or folder is installed`
  );
}

/** Returns true if the archive of a package above contains the package. */
function isBelowBundle(path: string, packages: Table): boolean {
  for (let at = path.lastIndexOf('/node_modules/'); at > 0; at = path.lastIndexOf('/node_modules/', at - 1)) {
    const above = packages[path.slice(0, at)];
    if (isRecord(above) && Array.isArray(above.bundleDependencies) && above.bundleDependencies.length > 0)
      return true;
  }
  return false;
}
