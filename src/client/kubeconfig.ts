/**
 * Parses and writes kubeconfig files, and merges them as kubectl merges the files of $KUBECONFIG. Unknown
 * fields are kept. Pure, except for the functions that read files.
 */
import { dirname, resolve } from 'node:path';

import { UsageError } from '../base/usage-error.ts';
import { fileProblem, readBoundedSync } from '../os/bounded-file.ts';
import { parse, stringify } from './kubeconfig-yaml.ts';
import { parsePlainYaml } from './plain-yaml.ts';

export interface ClusterEntry {
  server?: string;
  'certificate-authority'?: string;
  'certificate-authority-data'?: string;
  'insecure-skip-tls-verify'?: boolean;
  'tls-server-name'?: string;
  'proxy-url'?: string;
  extensions?: unknown;
}

export interface UserEntry {
  token?: string;
  tokenFile?: string;
  'client-certificate'?: string;
  'client-certificate-data'?: string;
  'client-key'?: string;
  'client-key-data'?: string;
  exec?: unknown;
  'auth-provider'?: unknown;
  username?: string;
  password?: string;
  as?: string;
  'as-uid'?: string;
  'as-groups'?: readonly string[];
  'as-user-extra'?: Readonly<Record<string, readonly string[]>>;
}

export interface ContextEntry {
  cluster?: string;
  user?: string;
  namespace?: string;
}

export interface Kubeconfig {
  readonly clusters: Readonly<Record<string, ClusterEntry>>;
  readonly users: Readonly<Record<string, UserEntry>>;
  readonly contexts: Readonly<Record<string, ContextEntry>>;
  readonly currentContext: string;
  /** Files from which the configuration was read, for messages. */
  readonly files?: readonly string[];
}

export const empty: Kubeconfig = { clusters: {}, users: {}, contexts: {}, currentContext: '' };

/**
 * Parses a kubeconfig. Paths in it are relative to the file and become absolute. Throws UsageError naming the
 * file.
 */
export function parseKubeconfig(text: string, file: string): Kubeconfig {
  let document: unknown;
  try {
    document = parsePlainYaml(text) ?? parse(text, { merge: true });
  } catch (error) {
    throw new UsageError(
      // The parser's message ends with a colon and an excerpt on separate lines.
      `kubeconfig ${file} is not YAML: ${error instanceof Error ? error.message.split('\n')[0]?.replace(/:$/, '') : ''}`,
    );
  }
  if (document === null || document === undefined) return empty;
  if (!isRecord(document)) throw new UsageError(`kubeconfig ${file} is not a mapping`);
  const { kind } = document;
  if (kind !== undefined && kind !== 'Config')
    throw new UsageError(`${file} is not a kubeconfig: its kind is ${kind}`);
  const current = document['current-context'];
  return {
    clusters: absolute(named(document, 'clusters', 'cluster', file), ['certificate-authority'], file),
    users: absolute(
      named(document, 'users', 'user', file),
      ['client-certificate', 'client-key', 'tokenFile'],
      file,
    ),
    contexts: named(document, 'contexts', 'context', file),
    currentContext: typeof current === 'string' ? current : '',
  };
}

/**
 * Merges kubeconfigs: the first one that has a cluster, user, context or current context wins, as with
 * $KUBECONFIG.
 */
export function mergeKubeconfigs(configs: readonly Kubeconfig[]): Kubeconfig {
  return configs.reduceRight(
    (below, above) => ({
      clusters: { ...below.clusters, ...above.clusters },
      users: { ...below.users, ...above.users },
      contexts: { ...below.contexts, ...above.contexts },
      currentContext: above.currentContext || below.currentContext,
    }),
    empty,
  );
}

/** Reads and merges the files. Missing files are skipped; when all are missing, returns undefined. */
export function loadKubeconfig(files: readonly string[]): Kubeconfig | undefined {
  const found = files.flatMap((file) => {
    const text = readOptional(file);
    return text === undefined ? [] : [{ file, config: parseKubeconfig(text, file) }];
  });
  if (found.length === 0) return undefined;
  return { ...mergeKubeconfigs(found.map(({ config }) => config)), files: found.map(({ file }) => file) };
}

/** Returns the text of a kubeconfig file. */
export function formatKubeconfig(config: Kubeconfig): string {
  const list = (entries: Readonly<Record<string, object>>, field: string) =>
    Object.entries(entries).map(([name, entry]) => ({ name, [field]: entry }));
  return stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: list(config.clusters, 'cluster'),
    users: list(config.users, 'user'),
    contexts: list(config.contexts, 'context'),
    'current-context': config.currentContext,
  });
}

const textFields = new Set([
  'server',
  'certificate-authority',
  'certificate-authority-data',
  'tls-server-name',
  'proxy-url',
  'as',
  'as-uid',
  'token',
  'tokenFile',
  'client-certificate',
  'client-certificate-data',
  'client-key',
  'client-key-data',
  'cluster',
  'user',
  'namespace',
]);

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Converts `[{name, <field>: {…}}]` to a map; of two entries with the same name, the first counts. */
function named(
  document: Record<string, unknown>,
  list: string,
  field: string,
  file: string,
): Record<string, Record<string, unknown>> {
  const entries = document[list] ?? [];
  if (!Array.isArray(entries)) throw new UsageError(`kubeconfig ${file}: ${list} is not a list`);
  const map: Record<string, Record<string, unknown>> = {};
  entries.forEach((entry: unknown, i) => {
    if (!isRecord(entry) || typeof entry.name !== 'string') {
      throw new UsageError(`kubeconfig ${file}: ${list}[${i}] has no name`);
    }
    const value = entry[field] ?? {};
    if (!isRecord(value)) throw new UsageError(`kubeconfig ${file}: ${list}[${i}].${field} is not a mapping`);
    const wrong = Object.keys(value).find((key) => textFields.has(key) && typeof value[key] !== 'string');
    // YAML reads a token that consists of digits as a number.
    if (wrong)
      throw new UsageError(`kubeconfig ${file}: ${list}[${i}].${field}.${wrong} is not text: quote it`);
    if (!Object.hasOwn(map, entry.name)) map[entry.name] = value;
  });
  return map;
}

function absolute(
  entries: Record<string, Record<string, unknown>>,
  fields: readonly string[],
  file: string,
): Record<string, Record<string, unknown>> {
  const folder = dirname(resolve(file));
  for (const entry of Object.values(entries)) {
    for (const field of fields) {
      const path = entry[field];
      if (typeof path === 'string' && path) entry[field] = resolve(folder, path);
    }
    const { exec } = entry;
    if (isRecord(exec) && typeof exec.command === 'string' && /^[^/]+\//.test(exec.command))
      entry.exec = { ...exec, command: resolve(folder, exec.command) };
  }
  return entries;
}

const denied = 'permission denied; use sudo, or a kubeconfig of your own (minik8s user create NAME, as root)';

/** Reads a file that a kubeconfig names; undefined if it does not exist. */
export function readOptional(file: string): string | undefined {
  try {
    return readBoundedSync(file);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return undefined;
    if (code === undefined) throw error;
    throw new UsageError(`cannot read ${file}: ${code === 'EACCES' ? denied : (fileProblem(code) ?? code)}`);
  }
}
