/** Restoration of a backup into the data directory of a master that does not run. */
import { mkdir, open, readFile, rename, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Exec } from '../os/exec.ts';
import { replaceFile } from '../os/replace-file.ts';
import { extractBackup } from './extract.ts';
import { configFolder, type Manifest } from './manifest.ts';
import { withScratch } from './scratch.ts';

export interface RestoreOptions {
  /** The file of the backup. */
  readonly path: string;
  readonly passphrase: string | undefined;
  /** Data directory, which the caller has locked. */
  readonly dataDir: string;
  /** Directory of the configuration files. */
  readonly configDirectory: string;
  /** True if data that are there already are moved aside; otherwise they are an error. */
  readonly replaces: boolean;
  readonly etcdBinary: string;
  readonly exec: Exec;
  /** Milliseconds since the Unix epoch. */
  readonly now: number;
}

export interface Restored {
  readonly manifest: Manifest;
  /** Paths to which earlier data were moved. */
  readonly movedTo: readonly string[];
  /** Paths of configuration files that were written, and of those that existed and were kept. */
  readonly configWritten: readonly string[];
  readonly configKept: readonly string[];
}

const folders = ['pki', 'etcd'] as const;

/** Restores a backup. Rejects if data are there already, and with BackupError; then nothing is changed. */
export async function restoreBackup(options: RestoreOptions): Promise<Restored> {
  const { dataDir, replaces, now } = options;
  const present = await presentIn(dataDir);
  if (present.length > 0 && !replaces)
    throw new Error(
      `there is a cluster in ${dataDir} already: give --replace, which moves its data aside, or another --data-dir`,
    );
  return withScratch(dataDir, async (into) => {
    const manifest = await extractBackup({ ...options, into });
    const movedTo: string[] = [];
    for (const folder of present) {
      const aside = join(dataDir, `${folder}.before-restore-${now}`);
      await rename(join(dataDir, folder), aside);
      movedTo.push(aside);
    }
    // Without the authority's folder a start would create another authority: it comes first.
    for (const folder of folders) await rename(join(into, folder), join(dataDir, folder));
    await syncDirectory(dataDir);
    return { manifest, movedTo, ...(await restoreConfig(options, manifest, into)) };
  });
}

async function presentIn(dataDir: string): Promise<readonly (typeof folders)[number][]> {
  const there = await Promise.all(folders.map((folder) => isThere(join(dataDir, folder))));
  return folders.filter((_, index) => there[index]);
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
      await mkdir(configDirectory, { recursive: true, mode: 0o755 });
      await replaceFile(path, await readFile(join(into, name)), { mode: 0o600 });
      configWritten.push(path);
    }
  }
  return { configWritten, configKept };
}

async function syncDirectory(path: string): Promise<void> {
  await using directory = await open(path);
  await directory.sync();
}

const isThere = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    (error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return false;
      throw error;
    },
  );
