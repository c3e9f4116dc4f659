/**
 * The file of a backup: an archive of tar, compressed by zstd, and encrypted if there is a passphrase. So
 * `age -d FILE | zstd -d | tar x` opens it without minik8s.
 */
import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { open, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { pipeline as pipelineOf, Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createZstdCompress, createZstdDecompress } from 'node:zlib';
import { archiveEnd, memberHeader, padding } from '../formats/tar-archive.ts';
import { type ReadMember, readTar } from '../formats/tar-reader.ts';
import { draftOf, removeLeftDrafts } from '../os/replace-file.ts';
import { type Disk, limited, withRoom } from './archive-limits.ts';
import { decrypted, encrypted, isEncrypted } from './encryption.ts';
import {
  BackupError,
  damaged,
  formatManifest,
  type Manifest,
  manifestName,
  parseManifest,
  shownName,
} from './manifest.ts';
import type { BackupSource } from './source.ts';

export interface ArchiveContent {
  readonly manifest: Manifest;
  /** Files with the members' contents, by the names of the members. */
  readonly files: ReadonlyMap<string, string>;
}

export interface WriteOptions {
  readonly signal?: AbortSignal;
  /** The disk on which etcd must keep room; undefined: the file is on another one. */
  readonly disk?: Disk;
}

/**
 * Writes the file of a backup, readable by its owner alone. Resolves to its size in bytes when it is on disk;
 * on failure nothing is left.
 */
export async function writeArchive(
  path: string,
  content: ArchiveContent,
  passphrase: string | undefined,
  { signal, disk }: WriteOptions = {},
): Promise<number> {
  await removeLeftDrafts(dirname(path));
  const draft = draftOf(path);
  try {
    const file = createWriteStream(draft, { flags: 'wx', mode: 0o600, flush: true });
    const tar = Readable.from(tarOf(content));
    const stopped = signal ? { signal } : {};
    const finished = async function* (plain: AsyncIterable<Uint8Array>) {
      const bytes =
        passphrase === undefined ? plain : await encrypted(ReadableStream.from(plain), passphrase);
      yield* disk ? withRoom(bytes, disk) : bytes;
    };
    await pipeline(tar, createZstdCompress(), finished, file, stopped);
    await rename(draft, path);
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
  }
  await using directory = await open(dirname(path));
  await directory.sync();
  await using file = await open(path);
  return (await file.stat()).size;
}

async function* tarOf({ manifest, files }: ArchiveContent): AsyncGenerator<Uint8Array> {
  const modified = Date.parse(manifest.created) / 1000;
  const head = (name: string, size: number) =>
    memberHeader({ name, type: 'file', mode: 0o600, uid: 0, gid: 0, size, modified });
  const text = Buffer.from(formatManifest(manifest));
  yield head(manifestName, text.length);
  yield text;
  yield padding(text.length);
  for (const [name, path] of files) {
    const size = manifest.members[name]?.size ?? 0;
    yield head(name, size);
    yield* wholeFile(path, size);
    yield padding(size);
  }
  yield archiveEnd;
}

/** Yields the file. Throws if its size is not that of its header: all that follows would be unreadable. */
async function* wholeFile(path: string, size: number): AsyncGenerator<Uint8Array> {
  let left = size;
  for await (const part of createReadStream(path)) {
    left -= part.length;
    yield part;
  }
  if (left !== 0) throw new Error(`${path} has changed while it was stored`);
}

/** Takes the content of one member. */
export type TakeMember = (name: string, content: AsyncIterable<Uint8Array>) => Promise<void>;

/**
 * Reads a backup: calls `begin` with its manifest, and then the function that it returns for every other
 * member. Rejects with BackupError for a file that is no backup, is cut short or damaged, was made by a
 * newer version, or cannot be decrypted, and with the errors of these functions. `passphrase` may be
 * undefined for a file that is not encrypted.
 */
export async function readArchive(
  source: BackupSource,
  passphrase: string | undefined,
  begin: (manifest: Manifest) => Promise<TakeMember>,
  signal?: AbortSignal,
): Promise<Manifest> {
  const { path } = source;
  const bytes = await decompressed(source, passphrase);
  try {
    const reading = await readMembers(bytes, begin, signal);
    if (reading === undefined) throw notWhole(path);
    const [lost] = reading.missing;
    if (lost !== undefined) throw damaged(`${lost} is missing`);
    return reading.manifest;
  } catch (error) {
    signal?.throwIfAborted();
    if (error instanceof TakerError) throw error.cause;
    throw error instanceof BackupError ? error : notWhole(path, error);
  } finally {
    bytes.destroy();
  }
}

/** Resolves to undefined for an archive without members. */
async function readMembers(
  bytes: Readable,
  begin: (manifest: Manifest) => Promise<TakeMember>,
  signal: AbortSignal | undefined,
): Promise<Reading | undefined> {
  let reading: Reading | undefined;
  for await (const member of readTar(limited(bytes, () => reading?.manifest, signal))) {
    if (reading) await takeMember(reading, member);
    else reading = await readingOf(member, begin);
  }
  return reading;
}

interface Reading {
  readonly manifest: Manifest;
  readonly take: TakeMember;
  /** Names of the members that have not been read yet. */
  readonly missing: Set<string>;
}

/** Carries an error of the caller's functions through the reading. */
class TakerError extends Error {}

const ofTaker = (cause: unknown): never => {
  throw new TakerError('', { cause });
};

async function readingOf(
  member: ReadMember,
  begin: (manifest: Manifest) => Promise<TakeMember>,
): Promise<Reading> {
  const manifest = parseManifest(await manifestText(member));
  const take = await begin(manifest).catch(ofTaker);
  return { manifest, take, missing: new Set(Object.keys(manifest.members)) };
}

async function decompressed({ path, read }: BackupSource, passphrase: string | undefined): Promise<Readable> {
  const stored = Readable.from(read());
  try {
    const [start, all] = await withStart(stored);
    if (!isEncrypted(start)) {
      if (passphrase === undefined) return unzipped(all);
      // A writer of the directory could replace an encrypted backup by one with another authority.
      throw new BackupError(
        `${path} is not encrypted, so anybody may have made it: leave out the passphrase if you trust it`,
      );
    }
    if (passphrase === undefined)
      throw new BackupError(`${path} is encrypted: give its passphrase with --passphrase-file`);
    return unzipped(Readable.from(await decrypted(ReadableStream.from(all), passphrase)));
  } catch (error) {
    stored.destroy();
    throw error;
  }
}

/** Returns the decompressed stream. An error of either stream becomes one of the result. */
function unzipped(compressed: Readable): Readable {
  return pipelineOf(compressed, createZstdDecompress(), () => undefined);
}

/** Number of bytes by which an encrypted file is recognized. */
const startBytes = 32;

/** Reads the first bytes of a stream, and returns them and a stream that begins with them. */
async function withStart(stream: Readable): Promise<[Buffer, Readable]> {
  const rest: AsyncIterator<Buffer> = stream[Symbol.asyncIterator]();
  let start: Buffer = Buffer.alloc(0);
  while (start.length < startBytes) {
    const { value, done } = await rest.next();
    if (done) break;
    start = Buffer.concat([start, value]);
  }
  async function* all() {
    try {
      yield start;
      for (let part = await rest.next(); !part.done; part = await rest.next()) yield part.value;
    } finally {
      stream.destroy();
    }
  }
  return [start, Readable.from(all())];
}

/** Maximum size of a manifest in bytes. */
const maxManifestBytes = 1024 * 1024;

async function manifestText({ name, size, content }: ReadMember): Promise<string> {
  if (name !== manifestName || size > maxManifestBytes)
    throw new BackupError('this file is no backup of minik8s');
  const parts: Uint8Array[] = [];
  for await (const part of content) parts.push(part);
  return Buffer.concat(parts).toString('utf8');
}

/** Passes on a member and checks its content against the manifest. */
async function takeMember(
  { manifest, take, missing }: Reading,
  { name, type, size: declared, content }: ReadMember,
): Promise<void> {
  const expected = Object.hasOwn(manifest.members, name) ? manifest.members[name] : undefined;
  if (expected === undefined || !missing.delete(name)) throw damaged(`it contains ${shownName(name)}`);
  if (type !== 'file') throw damaged(`${name} is no regular file`);
  // Checked before anything of it is written, since the file may not fit on the disk.
  if (declared !== expected.size) throw damaged(`${name} differs from the stored file`);
  const hash = createHash('sha256');
  let size = 0;
  let failure: { readonly cause: unknown } | undefined;
  async function* measured() {
    try {
      for await (const part of content) {
        hash.update(part);
        size += part.length;
        yield part;
      }
    } catch (cause) {
      failure = { cause };
      throw cause;
    }
  }
  try {
    await take(name, measured());
  } catch (error) {
    if (failure) throw failure.cause;
    ofTaker(error);
  }
  if (size !== expected.size || hash.digest('hex') !== expected.sha256)
    throw damaged(`${name} differs from the stored file`);
}

const notWhole = (path: string, cause?: unknown) =>
  new BackupError(`${path} is no backup of minik8s, is cut short, or is damaged`, { cause });
