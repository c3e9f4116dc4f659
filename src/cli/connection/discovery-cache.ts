/**
 * The resources that a server serves, kept in a file between commands as kubectl keeps them. A file is used
 * for six hours, and only by the version of the program that wrote it; a cluster with another certificate
 * authority has another file. A command that misses a resource asks the server again.
 */
import { createHash } from 'node:crypto';
import { readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isRecord } from '../../apimachinery/equality.ts';
import { version } from '../../base/version.ts';
import { makeFolder } from '../../os/make-folder.ts';
import type { Io } from '../io.ts';
import type { ApiResource, ApiResources } from '../objects/discovery.ts';

export interface DiscoveryCache {
  /** Returns the resources; undefined if there are none, or if they are too old or unreadable. */
  read(): ApiResources | undefined;
  /** Keeps the resources for later commands; does nothing where the folder cannot be written. */
  write(resources: ApiResources): void;
  /** Makes later commands ask the server. */
  forget(): void;
}

export interface ServerIdentity {
  readonly server: string;
  readonly ca?: string;
}

const maxAgeMs = 6 * 3600 * 1000;
/** Maximum size of a file; the discovery of a large cluster has a few hundred kilobytes. */
const maxBytes = 16 * 1024 * 1024;

type CacheIo = Pick<Io, 'env' | 'homeDirectory' | 'clock' | 'random'>;

/** Returns the folder for caches; `directory` is the value of --cache-dir. An empty one counts as none. */
export const cacheRoot = (io: Pick<Io, 'env' | 'homeDirectory'>, directory?: string): string =>
  directory || io.env.KUBECACHEDIR || join(io.homeDirectory, '.kube', 'cache');

/** Returns the cache of a server's resources. `directory` is the value of --cache-dir. */
export function discoveryCache(io: CacheIo, identity: ServerIdentity, directory?: string): DiscoveryCache {
  const folder = join(cacheRoot(io, directory), 'minik8s', 'discovery');
  const file = join(folder, fileName(identity));
  return {
    read: () => quietly(() => resourcesIn(textOf(file), io.clock.now())),
    write: (resources) => {
      quietly(() => {
        makeFolder(folder);
        const part = `${file}.${io.random.uuid()}`;
        const kept: Kept = { version: version(), savedAt: io.clock.now(), resources };
        writeFileSync(part, JSON.stringify(kept), { mode: 0o600, flag: 'wx' });
        renameSync(part, file);
      });
    },
    forget: () => quietly(() => rmSync(file, { force: true })),
  };
}

interface Kept {
  readonly version: string;
  /** Milliseconds since 1970. */
  readonly savedAt: number;
  readonly resources: ApiResources;
}

/** Returns a name that a person recognizes, with a digest of the whole identity. */
function fileName({ server, ca = '' }: ServerIdentity): string {
  const host = server.replace(/^https?:\/\//, '').replaceAll(/[^A-Za-z0-9.-]+/g, '_');
  const digest = createHash('sha256').update(`${server}\n${ca}`).digest('hex');
  return `${host.slice(0, 100)}-${digest.slice(0, 16)}.json`;
}

const textOf = (file: string): string => {
  if (statSync(file).size > maxBytes) throw new Error(`${file} is too large`);
  return readFileSync(file, 'utf8');
};

/** A cache is an optimization: without it, a command asks the server. */
function quietly<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch {
    return undefined;
  }
}

/**
 * Returns the resources of a file's text; undefined if they must not be used. Pure except for the version of
 * the program.
 */
export function resourcesIn(text: string, now: number): ApiResources | undefined {
  const kept: unknown = JSON.parse(text);
  if (!isRecord(kept) || kept.version !== version() || typeof kept.savedAt !== 'number') return undefined;
  const age = now - kept.savedAt;
  if (age < 0 || age > maxAgeMs) return undefined;
  const { resources } = kept;
  return Array.isArray(resources) && resources.length > 0 && resources.every(isResource)
    ? resources
    : undefined;
}

const texts = ['group', 'version', 'kind', 'plural', 'singular'];
const lists = ['shortNames', 'categories', 'verbs', 'subresources'];

const isResource = (value: unknown): value is ApiResource =>
  isRecord(value) &&
  typeof value.namespaced === 'boolean' &&
  texts.every((field) => typeof value[field] === 'string') &&
  lists.every((field) => isTexts(value[field]));

const isTexts = (value: unknown): boolean =>
  Array.isArray(value) && value.every((item) => typeof item === 'string');
