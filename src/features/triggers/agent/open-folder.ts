/**
 * Opens and lists a folder into which other programs write. A path is resolved first and compared with the
 * folders that the node allows. Then each part of it is opened from the one before without following links,
 * so that the checked folder is the one that is opened. Within the folder, links do not count as files, and
 * no path leads through a link.
 */
import { constants, type FileHandle, lstat, open, opendir, realpath } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { openDirectory, pathOf } from '../../../kubelet/volumes/sub-paths.ts';
import { type FolderWatch, maxWatchedFiles } from '../api/folder-watch.ts';
import { type FileContent, fileContent, maxContent } from './plan/file-event.ts';
import type { Mark } from './plan/folder-changes.ts';

/** The reason why a folder is not watched, for its FolderWatch's status. */
export class FolderProblem extends Error {
  readonly reason: string;

  constructor(reason: string, message: string) {
    super(message);
    this.reason = reason;
  }
}

export interface FoundFile extends Mark {
  /** Time at which it was created, moved or last written, in milliseconds since 1970. */
  readonly changed: number;
}

export interface Listing {
  readonly files: ReadonlyMap<string, FoundFile>;
  /** Number of files whose names are not UTF-8, so that they cannot be reported. */
  readonly unnamed: number;
}

/** Maximum number of entries of any kind that are checked. */
const maxEntries = 100_000;
const maxFolders = 1000;
const lookedAtOnce = 64;
const notUtf8 = '\u{fffd}';

/**
 * Opens the watched folder by a descriptor that only identifies it; `allowed` are the folders of
 * `--watch-folder`. Throws FolderProblem.
 */
export async function openWatched({ spec }: FolderWatch, allowed: readonly string[]): Promise<FileHandle> {
  const missing = (path: string) => new FolderProblem('FolderMissing', `there is no folder ${path}`);
  const plain = await plainPath(spec.folder);
  if (spec.volumeName === undefined && !(await isAllowed(plain ?? spec.folder, allowed)))
    throw new FolderProblem('FolderNotAllowed', `no --watch-folder of the node allows ${spec.folder}`);
  if (plain === undefined) throw missing(spec.folder);
  const path = join(plain, spec.path);
  let folder: FileHandle | undefined;
  try {
    folder = await openDirectory(path);
  } catch (error) {
    throw new FolderProblem('FolderUnusable', `${path}: ${(error as Error).message}`);
  }
  if (!folder) throw missing(path);
  return folder;
}

/** Returns the path without links; undefined where nothing exists. */
async function plainPath(path: string): Promise<string | undefined> {
  try {
    return await realpath(path);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    throw new FolderProblem('FolderUnusable', (error as Error).message);
  }
}

async function isAllowed(path: string, allowed: readonly string[]): Promise<boolean> {
  for (const one of allowed) {
    const plain = await plainPath(one);
    const within = plain === undefined ? '..' : relative(plain, path);
    if (within !== '..' && !within.startsWith('../')) return true;
  }
  return false;
}

export interface ListOptions {
  readonly isMeant: (name: string) => boolean;
  readonly recursive: boolean;
  /** Maximum number of files; default `maxWatchedFiles`. */
  readonly maxFiles?: number | undefined;
  /**
   * Called for each folder before it is read, so that later changes are noticed. `path` is '' for the top
   * folder.
   */
  readonly onFolder: (path: string, folder: FileHandle) => Promise<void>;
}

/** Lists the files. Throws FolderProblem when there are too many. */
export async function listFolder(folder: FileHandle, options: ListOptions): Promise<Listing> {
  const files = new Map<string, FoundFile>();
  const counts = { entries: 0, folders: 0, unnamed: 0 };
  await listInto('', folder, options, files, counts);
  return { files, unnamed: counts.unnamed };
}

interface Counts {
  entries: number;
  folders: number;
  unnamed: number;
}

async function listInto(
  path: string,
  folder: FileHandle,
  options: ListOptions,
  files: Map<string, FoundFile>,
  counts: Counts,
): Promise<void> {
  if (++counts.folders > maxFolders) throw tooMany(`folders: at most ${maxFolders} are watched`);
  await options.onFolder(path, folder);
  const { names, folders } = await entriesOf(folder, options, files.size, counts);
  await lookAtAll(path, folder, names, files);
  for (const name of options.recursive ? folders.sort() : []) {
    await using inner = await openEntry(folder, name, directoryOnly);
    if (inner) await listInto(below(path, name), inner, options, files, counts);
  }
}

async function lookAtAll(
  path: string,
  folder: FileHandle,
  names: readonly string[],
  files: Map<string, FoundFile>,
): Promise<void> {
  for (let at = 0; at < names.length; at += lookedAtOnce) {
    const some = names.slice(at, at + lookedAtOnce);
    const found = await Promise.all(some.map(async (name) => ({ name, file: await lookAt(folder, name) })));
    for (const { name, file } of found) if (file) files.set(below(path, name), file);
  }
}

/** Returns the matching files and the folders; `known` is the count of files so far. */
async function entriesOf(
  folder: FileHandle,
  { isMeant, maxFiles = maxWatchedFiles }: ListOptions,
  known: number,
  counts: Counts,
): Promise<{ readonly names: string[]; readonly folders: string[] }> {
  const [names, folders]: [string[], string[]] = [[], []];
  // The directory is closed when all entries have been read.
  for await (const entry of await opendir(pathOf(folder))) {
    countEntry(counts);
    if (entry.isDirectory()) folders.push(entry.name);
    if (!entry.isFile() || !isMeant(entry.name)) continue;
    // A name that is not UTF-8 cannot be reported.
    if (entry.name.includes(notUtf8)) counts.unnamed++;
    else if (known + names.push(entry.name) > maxFiles)
      throw tooMany(`files: at most ${maxFiles} are watched`);
  }
  return { names, folders };
}

function countEntry(counts: Counts): void {
  if (++counts.entries > maxEntries) throw tooMany(`entries: at most ${maxEntries} are checked`);
}

const below = (path: string, name: string) => (path === '' ? name : `${path}/${name}`);
const tooMany = (what: string) => new FolderProblem('TooManyFiles', `it has too many ${what}`);

async function lookAt(folder: FileHandle, name: string): Promise<FoundFile | undefined> {
  try {
    const stats = await lstat(join(pathOf(folder), name), { bigint: true });
    if (!stats.isFile()) return undefined;
    return { size: Number(stats.size), written: String(stats.mtimeNs), changed: Number(stats.ctimeMs) };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

const { O_NOFOLLOW, O_NONBLOCK, O_RDONLY, O_DIRECTORY } = constants;
const directoryOnly = O_RDONLY | O_DIRECTORY | O_NOFOLLOW;
/** O_NONBLOCK: opening a file that became a pipe in the meantime does not block the agent. */
const fileOnly = O_RDONLY | O_NOFOLLOW | O_NONBLOCK;

/** Opens an entry of an open folder; undefined when it is gone or has become another kind of entry. */
async function openEntry(folder: FileHandle, name: string, flags: number): Promise<FileHandle | undefined> {
  try {
    return await open(join(pathOf(folder), name), flags);
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    if (['ENOENT', 'ENOTDIR', 'ELOOP', 'ENXIO'].includes(code)) return undefined;
    throw error;
  }
}

/**
 * Returns the content of a file that is still in the state of `mark`; undefined when the file has changed.
 */
export async function readContent(
  folder: FileHandle,
  path: string,
  mark: Mark,
): Promise<FileContent | undefined> {
  if (mark.size > maxContent) return { truncated: true };
  const parts = path.split('/');
  const name = parts.pop() ?? '';
  await using file = await openIn(folder, parts, name);
  const before = await file?.stat({ bigint: true });
  if (!file || !before?.isFile() || !isOf(before, mark)) return undefined;
  const bytes = Buffer.alloc(mark.size);
  const { bytesRead } = await file.read(bytes, 0, mark.size, 0);
  const after = await file.stat({ bigint: true });
  return bytesRead === mark.size && isOf(after, mark) ? fileContent(bytes) : undefined;
}

async function openIn(
  folder: FileHandle,
  parts: readonly string[],
  name: string,
): Promise<FileHandle | undefined> {
  const [first, ...rest] = parts;
  if (first === undefined) return openEntry(folder, name, fileOnly);
  await using inner = await openEntry(folder, first, directoryOnly);
  // Awaited here, because `inner` is closed when this function returns.
  return inner && (await openIn(inner, rest, name));
}

const isOf = ({ size, mtimeNs }: { readonly size: bigint; readonly mtimeNs: bigint }, mark: Mark) =>
  Number(size) === mark.size && String(mtimeNs) === mark.written;
