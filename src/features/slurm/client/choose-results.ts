/** Chooses the files of the work folder that are fetched. */
import { matchesGlob } from 'node:path';
import type { DroppedFile, FetchedFile } from './slurm-job.ts';

export interface ChosenResults {
  readonly fetched: readonly FetchedFile[];
  readonly dropped: readonly DroppedFile[];
}

const maxFiles = 500;
/** Maximum bytes of the paths of each list; both lists are in the status of the job. */
const maxNames = 128 * 1024;

/**
 * Returns the fault of a file name. Names from the host were decoded as UTF-8 before, so the bytes of an
 * invalid name are lost and cannot be shown.
 */
const nameFault = (path: string): string | undefined =>
  /[\p{Cc}\ufffd]/u.test(path) ? 'its name is not UTF-8, or has control characters' : undefined;

/**
 * Returns the files that match a glob, the smallest first, as long as their total size is at most `limit`
 * bytes.
 */
export function chooseResults(
  files: readonly FetchedFile[],
  globs: readonly string[],
  limit: number,
): ChosenResults {
  const wanted = files
    .filter(({ path }) => globs.some((glob) => matchesGlob(path, glob.replace(/^\.\//, ''))))
    .sort((a, b) => a.size - b.size || (a.path < b.path ? -1 : 1));
  const [fetched, dropped]: [FetchedFile[], DroppedFile[]] = [[], []];
  let total = 0;
  let names = 0;
  for (const file of wanted) {
    const fault = nameFault(file.path);
    if (fault !== undefined) {
      dropped.push({ ...file, path: file.path.replace(/\p{Cc}/gu, '\ufffd'), reason: fault });
      continue;
    }
    total += file.size;
    names += Buffer.byteLength(file.path);
    if (total > limit)
      dropped.push({
        ...file,
        reason: `all results together may have at most ${limit} bytes (resultsLimit)`,
      });
    else if (fetched.length === maxFiles) dropped.push({ ...file, reason: `more than ${maxFiles} files` });
    else if (names > maxNames)
      dropped.push({ ...file, reason: `all paths together have more than ${maxNames} bytes` });
    else fetched.push(file);
  }
  return { fetched, dropped: named(dropped.slice(0, maxFiles)) };
}

/** Returns the first files, as many as fit into the status. */
function named(files: readonly DroppedFile[]): readonly DroppedFile[] {
  let names = 0;
  return files.filter(({ path }) => {
    names += Buffer.byteLength(path);
    return names <= maxNames;
  });
}
