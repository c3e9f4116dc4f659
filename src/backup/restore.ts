/** Restoration of a backup into the data directory of a master that does not run. */
import { lstat, mkdir, open, readFile, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { errorMessage } from '../base/log.ts';
import type { Exec } from '../os/exec.ts';
import { troubleAt } from '../os/file-trouble.ts';
import { removeLeftDrafts, replaceFile } from '../os/replace-file.ts';
import { syncTree } from '../storage/take-over.ts';
import { extractBackup } from './extract.ts';
import { configFolder, type Manifest } from './manifest.ts';
import {
  asideOf,
  type Folder,
  folders,
  type Restoring,
  readMark,
  restoringMark,
  writeMark,
} from './restoring-mark.ts';
import { withScratch } from './scratch.ts';
import type { BackupSource } from './source.ts';

export interface RestoreOptions {
  readonly source: BackupSource;
  readonly passphrase: string | undefined;
  /** Data directory, which the caller has locked. */
  readonly dataDir: string;
  /** Directory of the configuration files. */
  readonly configDirectory: string;
  /** True if data that are there already are moved aside; otherwise they are an error. */
  readonly replaces: boolean;
  /** True to restore the authority with its keys alone, and to keep the objects and the configuration. */
  readonly onlyPki?: boolean;
  readonly etcdBinary: string;
  readonly exec: Exec;
  /** Milliseconds since the Unix epoch. */
  readonly now: number;
  /** Ends the restoration as long as nothing was changed. */
  readonly signal?: AbortSignal;
}

export interface Restored {
  readonly manifest: Manifest;
  /** Paths to which earlier data were moved. */
  readonly movedTo: readonly string[];
  /** Paths of configuration files that were written, and of those that existed and were kept. */
  readonly configWritten: readonly string[];
  readonly configKept: readonly string[];
}

/**
 * Restores a backup. Rejects if data are there already, and with BackupError; then nothing is changed. A
 * restoration that was interrupted is begun anew by the next one.
 */
export async function restoreBackup(options: RestoreOptions): Promise<Restored> {
  const { dataDir, replaces, onlyPki = false, now } = options;
  const wanted = folders.filter((folder) => folder === 'pki' || !onlyPki);
  const begun = await readMark(dataDir);
  requireWhole(dataDir, begun, wanted);
  const present = await presentIn(dataDir, wanted);
  // Folders that an interrupted restoration exchanges may be those of its backup, or of the cluster before.
  if (!replaces && present.some((folder) => !begun?.folders.includes(folder)))
    throw new Error(
      `there is a cluster in ${dataDir} already: give --replace, which moves its data aside, or another --data-dir`,
    );
  const before = await movedBefore(dataDir, begun);
  for (const folder of present) await requireMovable(dataDir, folder);
  return withScratch(dataDir, async (into) => {
    const manifest = await extractBackup({ ...options, into });
    await syncTree(into);
    options.signal?.throwIfAborted();
    const aside = present.map((folder): Move => {
      return { from: join(dataDir, folder), to: asideOf(dataDir, folder, now) };
    });
    const restored = wanted.map((folder): Move => ({ from: join(into, folder), to: join(dataDir, folder) }));
    await writeMark(dataDir, { folders: wanted, at: begun?.at ?? now });
    await moveAll([...aside, ...restored], dataDir, begun !== undefined);
    await syncDirectory(dataDir);
    const config = onlyPki ? noConfig : await restoreConfig(options, manifest, into);
    await rm(join(dataDir, restoringMark));
    await syncDirectory(dataDir);
    return { manifest, movedTo: [...before, ...aside.map(({ to }) => to)], ...config };
  });
}

const noConfig = { configWritten: [], configKept: [] };

interface Move {
  readonly from: string;
  readonly to: string;
}

/** Rejects the authority alone while the restoration of all is unfinished: its objects may be missing. */
function requireWhole(dataDir: string, begun: Restoring | undefined, wanted: readonly Folder[]): void {
  if (begun === undefined || begun.folders.every((folder) => wanted.includes(folder))) return;
  throw new Error(
    `a restoration of a whole backup into ${dataDir} was interrupted: run minik8s backup restore without --only-pki first`,
  );
}

/** Resolves to the paths to which an interrupted restoration has moved the folders of the cluster before. */
async function movedBefore(dataDir: string, begun: Restoring | undefined): Promise<readonly string[]> {
  const { at } = begun ?? {};
  if (begun === undefined || at === undefined) return [];
  const paths = begun.folders.map((folder) => asideOf(dataDir, folder, at));
  const there = await Promise.all(paths.map(isThere));
  return paths.filter((_, index) => there[index]);
}

/**
 * Moves folders. If one cannot be moved, moves the others back, and removes the mark, unless the folders are
 * those that an interrupted restoration has left (`wasBegun`).
 */
async function moveAll(moves: readonly Move[], dataDir: string, wasBegun: boolean): Promise<void> {
  const done: Move[] = [];
  try {
    for (const move of moves) {
      await rename(move.from, move.to);
      done.push(move);
    }
  } catch (error) {
    for (const { from, to } of done.toReversed()) await rename(to, from);
    if (!wasBegun) await rm(join(dataDir, restoringMark));
    throw error;
  }
}

async function presentIn(dataDir: string, wanted: readonly Folder[]): Promise<readonly Folder[]> {
  const there = await Promise.all(wanted.map((folder) => isThere(join(dataDir, folder))));
  return wanted.filter((_, index) => there[index]);
}

/** Rejects if the folder is a mount point or a link, which cannot change places with another one. */
async function requireMovable(dataDir: string, folder: string): Promise<void> {
  const path = join(dataDir, folder);
  // The data directory itself may be a link to another disk: its folders change places there.
  const [own, parent] = await Promise.all([lstat(path), stat(dataDir)]);
  if (own.isDirectory() && own.dev === parent.dev) return;
  throw new Error(
    `${path} is a mount point or a link, which restore cannot replace: unmount or remove it, then mount the disk at ${dataDir}`,
  );
}

async function restoreConfig(
  { configDirectory }: RestoreOptions,
  { members }: Manifest,
  into: string,
): Promise<Pick<Restored, 'configWritten' | 'configKept'>> {
  const [configWritten, configKept]: [string[], string[]] = [[], []];
  for (const name of Object.keys(members).filter((each) => each.startsWith(configFolder))) {
    const path = join(configDirectory, name.slice(configFolder.length));
    if (await isThere(path)) configKept.push(path);
    else {
      await writeConfig(path, await readFile(join(into, name)));
      configWritten.push(path);
    }
  }
  return { configWritten, configKept };
}

/** A failure leaves the mark: the master would start without its settings. */
async function writeConfig(path: string, content: Uint8Array): Promise<void> {
  try {
    await mkdir(dirname(path), { recursive: true, mode: 0o755 });
    // A killed writer's draft may hold a token.
    await removeLeftDrafts(dirname(path), basename(path));
    await replaceFile(path, content, { mode: 0o600 });
  } catch (error) {
    const what = errorMessage(troubleAt(path, error));
    throw new Error(`${what}; then run minik8s backup restore again, which begins anew`, { cause: error });
  }
}

async function syncDirectory(path: string): Promise<void> {
  await using directory = await open(path);
  await directory.sync();
}

const isThere = (path: string): Promise<boolean> =>
  lstat(path).then(
    () => true,
    (error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return false;
      throw error;
    },
  );
