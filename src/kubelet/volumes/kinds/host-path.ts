/** Kind hostPath: a path of the machine, checked and, for some types, created before a container gets it. */
import type { Stats } from 'node:fs';
import { mkdir, stat, writeFile } from 'node:fs/promises';
import { isAbsolute } from 'node:path';
import type { PodVolume, VolumeKind } from './volume-kind.ts';

export const hostPath: VolumeKind = {
  has: ({ hostPath }) => hostPath !== undefined,
  place: ({ hostPath }) => ({ path: hostPath?.path ?? '', readOnly: false, isAtomic: false }),
  measured: () => undefined,
  steps: [
    {
      operation: 'MountVolume.SetUp',
      async run(_, { volume }: PodVolume) {
        const { path, type = '' } = volume.hostPath ?? { path: '' };
        await prepareHostPath(path, type);
        return undefined;
      },
    },
  ],
};

interface Check {
  readonly fits: (found: Stats) => boolean;
  /** Name of the type in messages, worded as upstream. */
  readonly words: string;
  readonly make?: (path: string) => Promise<unknown>;
}

const makeDirectory = (path: string) => mkdir(path, { recursive: true, mode: 0o755 });
const makeFile = (path: string) => writeFile(path, '', { flag: 'a', mode: 0o644 });

const directory: Check = { fits: (found) => found.isDirectory(), words: 'a directory' };
const file: Check = { fits: (found) => found.isFile(), words: 'a file' };

const checks: Readonly<Record<string, Check>> = {
  '': { fits: () => true, words: 'there', make: makeDirectory },
  Directory: directory,
  DirectoryOrCreate: { ...directory, make: makeDirectory },
  File: file,
  FileOrCreate: { ...file, make: makeFile },
  Socket: { fits: (found) => found.isSocket(), words: 'a socket file' },
  CharDevice: { fits: (found) => found.isCharacterDevice(), words: 'a character device' },
  BlockDevice: { fits: (found) => found.isBlockDevice(), words: 'a block device' },
};

/** Checks that the entry at the path is of the type, and creates it where the type requires that. */
export async function prepareHostPath(path: string, type: string): Promise<void> {
  if (!isAbsolute(path)) throw new Error(`${JSON.stringify(path)} is not an absolute path`);
  const check = Object.hasOwn(checks, type) ? checks[type] : undefined;
  if (!check) throw new Error(`${type} is an invalid volume type`);
  const found = await stat(path).catch((error: NodeJS.ErrnoException) => {
    // ENOTDIR: a part of the path is a file, and nothing exists below it.
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return undefined;
    throw error;
  });
  if (!found && check.make) await check.make(path);
  else if (!found || !check.fits(found))
    throw new Error(`hostPath type check failed: ${path} is not ${check.words}`);
}
