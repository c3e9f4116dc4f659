/** Creates an archive from local files, and extracts an archive to local files. */
import { createReadStream, createWriteStream, lstatSync, rmSync } from 'node:fs';
import { copyFile, lstat, mkdir, readdir, readlink, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { archiveEnd, memberHeader, padding } from '../../formats/tar-archive.ts';
import { type ReadMember, readTar } from '../../formats/tar-reader.ts';
import { shownName } from '../printers/table-writer.ts';
import { memberPath } from './cp-plan.ts';

/**
 * Yields an archive of a file, or of a directory with its contents; `name` is the name of the first member.
 * Sockets and devices are skipped.
 */
export async function* archiveOf(
  path: string,
  name: string,
  err: (text: string) => void,
): AsyncGenerator<Uint8Array> {
  yield* membersOf(path, name, err);
  yield archiveEnd;
}

async function* membersOf(
  path: string,
  name: string,
  err: (text: string) => void,
): AsyncGenerator<Uint8Array> {
  const stats = await lstat(path);
  const { uid, gid } = stats;
  const member = { name, uid, gid, mode: stats.mode & 0o7777, modified: stats.mtimeMs / 1000, size: 0 };
  if (stats.isDirectory()) {
    yield memberHeader({ ...member, type: 'directory' });
    for (const entry of (await readdir(path)).sort()) {
      yield* membersOf(join(path, entry), `${name}/${entry}`, err);
    }
  } else if (stats.isSymbolicLink()) {
    yield memberHeader({ ...member, type: 'symlink', target: await readlink(path) });
  } else if (stats.isFile()) {
    yield memberHeader({ ...member, type: 'file', size: stats.size });
    yield* exactly(path, stats.size);
    yield padding(stats.size);
  } else {
    err(`warning: skipping ${path}: it is neither a file nor a directory\n`);
  }
}

/**
 * Yields the first `size` bytes of a file, also if the file grows meanwhile. A file that shrinks is an error,
 * because its size was already sent.
 */
async function* exactly(path: string, size: number): AsyncGenerator<Uint8Array> {
  if (size === 0) return;
  let left = size;
  for await (const chunk of createReadStream(path, { end: size - 1 })) {
    left -= chunk.length;
    yield chunk;
  }
  if (left > 0) throw new Error(`${path} became shorter while it was copied`);
}

export interface Extraction {
  /** Prefix of every member's name. */
  readonly prefix: string;
  /** Path of the resulting file or directory; a file is put into a directory that already exists. */
  readonly destination: string;
  err(text: string): void;
}

/**
 * Extracts an archive; writes nothing outside the destination. Symbolic links, and hard links to files
 * outside, are skipped with a warning.
 */
export async function extract(
  archive: AsyncIterable<Uint8Array>,
  { prefix, destination, err }: Extraction,
): Promise<void> {
  const into = await isDirectory(destination);
  const placeOf: PlaceOf = (name, type) => {
    const path = memberPath(name, prefix);
    if (path === undefined) return undefined;
    const single = path.length === 0 && type !== 'directory';
    return single && into ? join(destination, basename(prefix)) : join(destination, ...path);
  };
  for await (const member of readTar(archive)) {
    const place = placeOf(member.name, member.type);
    if (place === undefined)
      err(`warning: file ${quoted(member.name)} is outside target destination, skipping\n`);
    else await extractMember(member, place, placeOf, err).catch(rethrowShown);
  }
}

/** Returns a name that the container chose; JSON leaves DEL and the control characters of 8 bits. */
const quoted = (name: string) => shownName(JSON.stringify(name));

function rethrowShown(error: Error): never {
  error.message = shownName(error.message);
  throw error;
}

/** Returns the path of a member; undefined if it is outside the destination. */
type PlaceOf = (name: string, type: string) => string | undefined;

async function extractMember(
  { name, type, mode, target, content }: ReadMember,
  place: string,
  placeOf: PlaceOf,
  err: Extraction['err'],
): Promise<void> {
  await mkdir(type === 'directory' ? place : dirname(place), { recursive: true });
  if (type === 'file') {
    await writeWhole(place, content, (mode & 0o777) | 0o600, err);
  } else if (type === 'link') {
    const original = placeOf(target, type);
    if (original === undefined) err(`warning: skipping link: ${quoted(name)} -> ${quoted(target)}\n`);
    else await copyFile(original, place);
  } else if (type === 'symlink') {
    err(`warning: skipping symlink: ${quoted(place)} -> ${quoted(target)}\n`);
  } else if (type === 'other') {
    err(`warning: skipping ${quoted(place)}: it is neither a file nor a directory\n`);
  }
}

/**
 * Writes a file. A new file that does not get all its content is removed, also if the process exits before;
 * of a file that was there before, `err` says that it has only a part. Rejects with the error of the content.
 */
async function writeWhole(
  place: string,
  content: AsyncIterable<Uint8Array>,
  mode: number,
  err: Extraction['err'],
): Promise<void> {
  const before = lstatSync(place, { throwIfNoEntry: false });
  if (before?.isDirectory())
    throw new Error(`${place} is a directory, and a file of the archive has its name`);
  const giveUp = before
    ? () => err(`warning: ${shownName(place)} has only a part of its new content\n`)
    : () => rmSync(place, { force: true });
  process.once('exit', giveUp);
  try {
    await pipeline(Readable.from(content), createWriteStream(place, { mode }));
  } catch (error) {
    giveUp();
    throw error;
  } finally {
    process.off('exit', giveUp);
  }
}

const isDirectory = (path: string): Promise<boolean> =>
  stat(path).then(
    (stats) => stats.isDirectory(),
    () => false,
  );
