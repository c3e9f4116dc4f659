/** Names of images in full, and the names of their objects. Pure. */
import { sha256 } from '../../../base/sha256.ts';

const maxReadable = 60;

/**
 * Returns the full name with registry, path and tag, as the engine understands it: `busybox` becomes
 * `docker.io/library/busybox:latest`. Returns undefined for a name with a digest, which no tag can change.
 */
export function fullImageName(name: string): string | undefined {
  if (name.includes('@')) return undefined;
  const slash = name.indexOf('/');
  const first = slash < 0 ? '' : name.slice(0, slash);
  const isRegistry = /[.:]/.test(first) || first === 'localhost' || first !== first.toLowerCase();
  const registry = isRegistry ? first : 'docker.io';
  const path = isRegistry ? name.slice(slash + 1) : name;
  const host = registry === 'index.docker.io' ? 'docker.io' : registry;
  const inLibrary = host === 'docker.io' && !path.includes('/') ? `library/${path}` : path;
  const tagged = /:[^/:]+$/.test(inLibrary) ? inLibrary : `${inLibrary}:latest`;
  return `${host}/${tagged}`;
}

/** Returns the short form of a full name, as people write it. */
export const shortImageName = (full: string): string => full.replace(/^docker\.io\/(?:library\/)?/, '');

/** Returns the name of the Image object for a full name: readable, and unique by a hash. */
export function objectNameOf(full: string): string {
  const readable = shortImageName(full)
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .slice(0, maxReadable)
    .replaceAll(/^-+|-+$/g, '');
  return `${readable || 'image'}-${sha256(full).slice(0, 10)}`;
}

const held = 'minik8s-held';

/**
 * Returns the name of a held image in the engine of each node. It follows from the digest, so it never takes
 * the place of an image of the machine's user.
 */
export const heldTag = (digest: string): string => `${held}:${digest.replace(':', '-')}`;

export const isHeldTag = (name: string): boolean => name.startsWith(`${held}:`);
