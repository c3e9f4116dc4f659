/** Writes the samples to a folder, all or none of them. */
import { mkdir, readdir, readFile, realpath, rename, stat, writeFile } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { errorMessage } from '../../base/log.ts';
import { UsageError } from '../../base/usage-error.ts';
import { ifThere } from '../../os/if-there.ts';
import { makeTemporaryFolder } from '../../os/temporary-folder.ts';
import type { SampleFile } from './sample-files.ts';

/**
 * Writes the files to `folder`, which may be missing or empty. Returns false if all of them are there
 * already, and throws UsageError if the folder has anything else: what a user changed is never overwritten.
 */
export async function writeSamples(folder: string, files: readonly SampleFile[]): Promise<boolean> {
  const asked = resolve(folder);
  try {
    // A link to a folder is followed: the files are written to the folder itself.
    const target = (await ifThere(realpath(asked))) ?? asked;
    const names = await ifThere(readdir(target));
    if (names !== undefined && names.length > 0) {
      await requireSame(folder, target, files);
      return false;
    }
    if (names === undefined) await requireParent(folder, dirname(target));
    await using draft = await makeTemporaryFolder(dirname(target), `.${basename(target)}-`);
    const content = join(draft.path, 'content');
    await writeAll(content, files);
    await rename(content, target);
    return true;
  } catch (error) {
    if (error instanceof UsageError) throw error;
    if ((error as NodeJS.ErrnoException).code === 'ENOTDIR')
      throw new UsageError(`${folder} is no folder; name another one: minik8s samples FOLDER`);
    throw new Error(`cannot write the samples to ${folder}: ${errorMessage(error)}`, { cause: error });
  }
}

async function requireParent(folder: string, parent: string): Promise<void> {
  if ((await ifThere(stat(parent))) === undefined)
    throw new UsageError(`${folder}: there is no folder ${parent}; make it, or name another one`);
}

async function requireSame(folder: string, target: string, files: readonly SampleFile[]): Promise<void> {
  for (const { path, text } of files) {
    const found = await ifThere(readFile(join(target, path), 'utf8'));
    if (found === text) continue;
    const reason = found === undefined ? `has other files, and no ${path}` : `has another ${path}`;
    throw new UsageError(`${folder} ${reason}; name another folder: minik8s samples FOLDER`);
  }
}

async function writeAll(folder: string, files: readonly SampleFile[]): Promise<void> {
  for (const { path, executable, text } of files) {
    const target = join(folder, path);
    await mkdir(dirname(target), { recursive: true });
    await writeFile(target, text, { mode: executable ? 0o755 : 0o644 });
  }
}
