/**
 * Opening and listing a folder in which others write. A path is made plain first, that is compared with what the node allows, and then
 * each part of it is opened from the one before without following a link: what was looked at is what is opened. Of what is in it,
 * links are no files, and no path leads through one.
 */
import { constants, type FileHandle, lstat, open, opendir, realpath } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { type FolderWatch, mostWatchedFiles } from '../../api/minik8s/v1/folder-watch.ts';
import { openDirectory, pathOf } from '../volumes/sub-paths.ts';
import { type FileContent, fileContent, mostContent } from './plan/file-event.ts';
import type { Mark } from './plan/folder-changes.ts';

/** Why a folder is not watched, as its FolderWatch says it. */
export class FolderProblem extends Error {
  readonly reason: string;

  constructor(reason: string, message: string) {
    super(message);
    this.reason = reason;
  }
}

export interface FoundFile extends Mark {
  /** When it was made, moved or written last: milliseconds since 1970. */
  readonly changed: number;
}

export interface Listing {
  readonly files: ReadonlyMap<string, FoundFile>;
  /** How many have a name that is no UTF-8, and so cannot be told. */
  readonly unnamed: number;
}

/** Entries of any kind that are looked at. */
const mostEntries = 100_000;
const mostFolders = 1000;
const lookedAtOnce = 64;
const notUtf8 = '\u{fffd}';

/** The watched folder by a descriptor that only says which it is; `allowed` are folders of `--watch-folder`. Throws FolderProblem. */
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

/** Without links; undefined where nothing is. */
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
  /** Each folder before it is looked at, so that what changes afterwards is noticed. `path` is '' for the whole. */
  readonly onFolder: (path: string, folder: FileHandle) => Promise<void>;
}

/** Throws FolderProblem where there are too many. */
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
  if (++counts.folders > mostFolders) throw tooMany(`folders; at most ${mostFolders} are watched`);
  await options.onFolder(path, folder);
  const { names, folders } = await entriesOf(folder, options, mostWatchedFiles - files.size, counts);
  for (let at = 0; at < names.length; at += lookedAtOnce) {
    const some = names.slice(at, at + lookedAtOnce);
    const found = await Promise.all(some.map((name) => lookAt(folder, name)));
    for (const [index, file] of found.entries()) if (file) files.set(below(path, some[index] ?? ''), file);
  }
  for (const name of folders.sort()) {
    await using inner = await openEntry(folder, name, directoryOnly);
    if (inner) await listInto(below(path, name), inner, options, files, counts);
  }
}

/** The files that are meant, at most `room`, and the folders to go into. */
async function entriesOf(
  folder: FileHandle,
  { isMeant, recursive }: ListOptions,
  room: number,
  counts: Counts,
): Promise<{ readonly names: string[]; readonly folders: string[] }> {
  const [names, folders]: [string[], string[]] = [[], []];
  // It is closed when all is read.
  for await (const entry of await opendir(pathOf(folder))) {
    if (++counts.entries > mostEntries) throw tooMany(`entries; at most ${mostEntries} are looked at`);
    const isFile = entry.isFile() && isMeant(entry.name);
    if (recursive && entry.isDirectory()) folders.push(entry.name);
    else if (isFile && entry.name.includes(notUtf8)) counts.unnamed++;
    else if (isFile) names.push(entry.name);
    if (names.length > room) throw tooMany(`files; at most ${mostWatchedFiles} are watched`);
  }
  return { names, folders };
}

const below = (path: string, name: string) => (path === '' ? name : `${path}/${name}`);
const tooMany = (what: string) => new FolderProblem('TooManyFiles', `it has more ${what}`);

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
/** One that became a pipe meanwhile does not hold the agent. */
const fileOnly = O_RDONLY | O_NOFOLLOW | O_NONBLOCK;

/** An entry of an open folder; undefined when it is gone, or is another kind of thing by now. */
async function openEntry(folder: FileHandle, name: string, flags: number): Promise<FileHandle | undefined> {
  try {
    return await open(join(pathOf(folder), name), flags);
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    if (['ENOENT', 'ENOTDIR', 'ELOOP', 'ENXIO'].includes(code)) return undefined;
    throw error;
  }
}

/** What is in the file of that state; undefined when it is not in that state any more. */
export async function readContent(
  folder: FileHandle,
  path: string,
  mark: Mark,
): Promise<FileContent | undefined> {
  if (mark.size > mostContent) return { truncated: true };
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
  // Awaited here: what is open is closed behind it.
  return inner && (await openIn(inner, rest, name));
}

const isOf = ({ size, mtimeNs }: { readonly size: bigint; readonly mtimeNs: bigint }, mark: Mark) =>
  Number(size) === mark.size && String(mtimeNs) === mark.written;
