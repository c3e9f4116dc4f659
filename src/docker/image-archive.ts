/**
 * Archives of images as `docker load` reads them. They follow the OCI layout, and have Docker's own
 * manifest.json for engines before 25.
 */
import { createHash } from 'node:crypto';
import { archiveEnd, blockSize, memberHeader, padding } from '../formats/tar-archive.ts';

export interface ArchiveBlob {
  /** `sha256:` and 64 hexadecimal digits. */
  readonly digest: string;
  /** Size in bytes. */
  readonly size: number;
}

export interface ArchiveContent {
  readonly config: ArchiveBlob;
  /** Uncompressed archives, the lowest layer first. */
  readonly layers: readonly ArchiveBlob[];
}

export interface ImageArchive {
  /** Size of the archive in bytes. */
  readonly size: number;
  readonly bytes: AsyncIterable<Uint8Array>;
}

const types = {
  manifest: 'application/vnd.oci.image.manifest.v1+json',
  config: 'application/vnd.oci.image.config.v1+json',
  layer: 'application/vnd.oci.image.layer.v1.tar',
} as const;

const digestOf = (text: string) => `sha256:${createHash('sha256').update(text).digest('hex')}`;

/** Returns the path of a blob in an archive. */
export const blobPath = (digest: string): string => `blobs/${digest.replace(':', '/')}`;

/** Returns the OCI manifest of the content; the same content always has the same manifest. */
function manifestOf({ config, layers }: ArchiveContent): string {
  return JSON.stringify({
    schemaVersion: 2,
    mediaType: types.manifest,
    config: { mediaType: types.config, digest: config.digest, size: config.size },
    layers: layers.map(({ digest, size }) => ({ mediaType: types.layer, digest, size })),
  });
}

/**
 * Returns the ids that an engine may give the image: the digest of its configuration, or that of its manifest
 * in an engine with containerd's image store.
 */
export const imageIds = (content: ArchiveContent): readonly string[] => [
  content.config.digest,
  digestOf(manifestOf(content)),
];

/**
 * Returns an archive that gives the image the name `tag`. `open` must yield exactly the bytes of the blob:
 * the engine compares their digests.
 */
export function imageArchive(
  content: ArchiveContent,
  tag: string,
  open: (blob: ArchiveBlob) => AsyncIterable<Uint8Array>,
): ImageArchive {
  const texts = textsOf(content, tag);
  const blobs = [...new Map([content.config, ...content.layers].map((blob) => [blob.digest, blob])).values()];
  const sizes = [...texts.map(([, text]) => Buffer.byteLength(text)), ...blobs.map(({ size }) => size)];
  const size = sizes.reduce((sum, one) => sum + blockSize + one + padding(one).length, archiveEnd.length);
  return { size, bytes: bytesOf(texts, blobs, open) };
}

/** Returns the name as containerd's image store has it; Docker looks for no shorter one there. */
const fullName = (tag: string) => (tag.includes('/') ? tag : `docker.io/library/${tag}`);

function textsOf(content: ArchiveContent, tag: string): readonly (readonly [string, string])[] {
  const manifest = manifestOf(content);
  const digest = digestOf(manifest);
  const annotations = {
    'io.containerd.image.name': fullName(tag),
    'org.opencontainers.image.ref.name': tag.slice(tag.lastIndexOf(':') + 1),
  };
  const index = {
    schemaVersion: 2,
    manifests: [{ mediaType: types.manifest, digest, size: Buffer.byteLength(manifest), annotations }],
  };
  const own = {
    Config: blobPath(content.config.digest),
    RepoTags: [tag],
    Layers: content.layers.map((layer) => blobPath(layer.digest)),
  };
  return [
    ['oci-layout', JSON.stringify({ imageLayoutVersion: '1.0.0' })],
    ['index.json', JSON.stringify(index)],
    ['manifest.json', JSON.stringify([own])],
    [blobPath(digest), manifest],
  ];
}

async function* bytesOf(
  texts: readonly (readonly [string, string])[],
  blobs: readonly ArchiveBlob[],
  open: (blob: ArchiveBlob) => AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  for (const [name, text] of texts) {
    const content = Buffer.from(text);
    yield headerOf(name, content.length);
    yield content;
    yield padding(content.length);
  }
  for (const blob of blobs) {
    yield headerOf(blobPath(blob.digest), blob.size);
    yield* open(blob);
    yield padding(blob.size);
  }
  yield archiveEnd;
}

const headerOf = (name: string, size: number) =>
  memberHeader({ name, type: 'file', mode: 0o644, uid: 0, gid: 0, modified: 0, size });
