/**
 * Reads archives of images that `docker save` of any version made. Nothing is ever written under a name of
 * the archive: its members are found again by their positions.
 */
import { createHash } from 'node:crypto';
import { posix } from 'node:path';
import { type ReadMember, readTar } from '../formats/tar-reader.ts';

/** Part of an archive, by its position. */
export interface ArchivePart {
  readonly offset: number;
  readonly size: number;
  /** Digest of the bytes as they are in the archive. */
  readonly digest: string;
}

export interface ArchivedImage {
  /** Names with their tags; empty for an image that was saved by its id. */
  readonly names: readonly string[];
  readonly config: ArchivePart;
  readonly architecture: string;
  /** The layers, the lowest one first. */
  readonly layers: readonly ArchivedLayer[];
}

export interface ArchivedLayer extends ArchivePart {
  /** Digest of the uncompressed layer, which the configuration names. */
  readonly diffId: string;
}

/** Maximum size of a text that is kept while the archive is read, of all of them, and of members. */
const maxText = 4 * 1024 ** 2;
const maxTexts = 64 * 1024 ** 2;
const maxMembers = 100_000;

interface Index {
  readonly parts: ReadonlyMap<string, ArchivePart>;
  /** Targets of links, by the names of the links. */
  readonly links: ReadonlyMap<string, string>;
  readonly texts: ReadonlyMap<number, Buffer>;
}

/** Returns the images of an archive. Throws an Error that names what is wrong with it. */
export async function readImageArchive(bytes: AsyncIterable<Uint8Array>): Promise<readonly ArchivedImage[]> {
  const index = await indexOf(bytes);
  const manifest = jsonOf(index, 'manifest.json');
  if (!Array.isArray(manifest)) throw new Error('its manifest.json is not a list of images');
  return manifest.map((entry) => imageOf(index, entry as ManifestEntry));
}

/** Reads the whole archive once: positions and digests of all files, and the small texts. */
async function indexOf(bytes: AsyncIterable<Uint8Array>): Promise<Index> {
  const parts = new Map<string, ArchivePart>();
  const links = new Map<string, string>();
  const texts = new Map<number, Buffer>();
  let held = 0;
  for await (const member of readTar(bytes)) {
    if (parts.size + links.size >= maxMembers) throw new Error(`it has more than ${maxMembers} files`);
    const path = inArchive(member.name);
    const target = linkTarget(member, path);
    if (target !== undefined) links.set(path, target);
    if (member.type !== 'file') continue;
    const { size, offset } = member;
    const { digest, text } = await readFile(member, size <= maxText && held + size <= maxTexts);
    if (text) {
      held += size;
      texts.set(offset, text);
    }
    parts.set(path, { offset, size, digest });
  }
  return { parts, links, texts };
}

function linkTarget({ type, target }: ReadMember, path: string): string | undefined {
  if (type === 'symlink') return inArchive(posix.join(posix.dirname(path), target));
  return type === 'link' ? inArchive(target) : undefined;
}

/** Returns the digest of a file, and its content if that may be kept and looks like JSON. */
async function readFile({ content }: ReadMember, isSmall: boolean) {
  const kept: Uint8Array[] = [];
  const hash = createHash('sha256');
  for await (const piece of content) {
    hash.update(piece);
    if (isSmall) kept.push(Buffer.from(piece));
  }
  return { digest: `sha256:${hash.digest('hex')}`, text: isText(kept) ? Buffer.concat(kept) : undefined };
}

/** Returns true for what may be JSON: a layer, which is an archive too, begins otherwise. */
const isText = ([first]: readonly Uint8Array[]) => first?.[0] === 0x7b || first?.[0] === 0x5b;

const inArchive = (name: string) => posix.normalize(`/${name}`).slice(1);

interface ManifestEntry {
  readonly Config?: unknown;
  readonly RepoTags?: unknown;
  readonly Layers?: unknown;
}

interface ImageConfig {
  readonly architecture?: unknown;
  readonly os?: unknown;
  readonly rootfs?: { readonly diff_ids?: unknown };
}

function imageOf(index: Index, { Config, RepoTags, Layers }: ManifestEntry): ArchivedImage {
  const config = partOf(index, Config);
  const { architecture, os, rootfs } = jsonOf(index, Config) as ImageConfig;
  if (os !== undefined && os !== 'linux') throw new Error(`its image is for ${String(os)}, not for linux`);
  const diffIds = textsIn(rootfs?.diff_ids);
  const layers = textsIn(Layers);
  if (layers.length === 0 || layers.length !== diffIds.length)
    throw new Error(`its image has ${layers.length} layers, and its configuration ${diffIds.length}`);
  return {
    names: textsIn(RepoTags),
    config,
    architecture: typeof architecture === 'string' ? architecture : '',
    layers: layers.map((name, at) => ({ ...partOf(index, name), diffId: diffIds[at] ?? '' })),
  };
}

const textsIn = (value: unknown): readonly string[] =>
  Array.isArray(value) ? value.filter((one): one is string => typeof one === 'string') : [];

/** Returns the file of a name; docker save of old versions makes links to layers that are there already. */
function partOf({ parts, links }: Index, name: unknown): ArchivePart {
  if (typeof name !== 'string') throw new Error('its manifest.json names no configuration or layer');
  let path = inArchive(name);
  for (let hops = 0; hops < 8 && links.has(path); hops++) path = links.get(path) ?? path;
  const part = parts.get(path);
  if (!part) throw new Error(`it has no ${name}`);
  return part;
}

function jsonOf(index: Index, name: unknown): unknown {
  const { offset } = partOf(index, name);
  const text = index.texts.get(offset);
  if (!text) throw new Error(`its ${String(name)} is too large or is not JSON`);
  try {
    return JSON.parse(text.toString('utf8')) as unknown;
  } catch {
    throw new Error(`its ${String(name)} is not JSON`);
  }
}
