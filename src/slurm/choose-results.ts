/** Which files of the work folder come back. */
import { matchesGlob } from 'node:path';
import type { DroppedFile, FetchedFile } from './slurm-job.ts';

export interface ChosenResults {
  readonly fetched: readonly FetchedFile[];
  readonly dropped: readonly DroppedFile[];
}

const mostFiles = 500;

/** Those that a glob names, the smallest first, as long as all of them together have at most `limit` bytes. */
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
  for (const file of wanted) {
    total += file.size;
    if (total > limit)
      dropped.push({ ...file, reason: `all results together may have ${limit} bytes (resultsLimit)` });
    else if (fetched.length === mostFiles) dropped.push({ ...file, reason: `more than ${mostFiles} files` });
    else fetched.push(file);
  }
  return { fetched, dropped: dropped.slice(0, mostFiles) };
}
