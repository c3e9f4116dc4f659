/** Replacement of a user's own file, which may be a symbolic link into a folder of settings. */
import { readlink, realpath, stat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { ifThere } from './if-there.ts';
import { makeFolder } from './make-folder.ts';
import { replaceFile } from './replace-file.ts';

/**
 * Replaces the file, or the one that a symbolic link leads to, which keeps its owner. `modeOf` returns the
 * new mode for the mode of the file; undefined if there is none.
 */
export async function replaceBehindLink(
  path: string,
  text: string,
  modeOf: (before: number | undefined) => number,
): Promise<void> {
  const target = await linkTarget(path);
  const before = await ifThere(stat(target));
  makeFolder(dirname(target));
  const mode = modeOf(before && before.mode & 0o777);
  await replaceFile(target, text, { mode, ...(before && { owner: before }) });
}

/** Returns the file that a symbolic link leads to, even if that file does not exist yet. */
async function linkTarget(path: string): Promise<string> {
  try {
    return await realpath(path);
  } catch {
    const link = await readlink(path).catch(() => undefined);
    return link === undefined ? path : join(dirname(resolve(path)), link);
  }
}
