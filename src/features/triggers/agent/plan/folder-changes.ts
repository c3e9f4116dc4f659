/** Computes the changes in a folder, from the reported files and the current ones. Pure. */
import type { ChangeType } from '../../api/trigger-fields.ts';

/** Identifies one state of a file. */
export interface Mark {
  /** Bytes. */
  readonly size: number;
  /** Time of the last write: nanoseconds since 1970, in decimal. */
  readonly written: string;
}

/** Marks by path, relative to the folder. */
export type Marks = ReadonlyMap<string, Mark>;

/** State of a file, present or missing, and the time since which it has this state. */
interface Rest {
  readonly mark: Mark | undefined;
  /** Milliseconds of a monotonic clock. */
  readonly since: number;
}

/** Time of one reading of the folder, in milliseconds of a monotonic clock. */
export interface Look {
  readonly begun: number;
  readonly ended: number;
}

export type Resting = ReadonlyMap<string, Rest>;

export interface FolderChange {
  readonly type: ChangeType;
  readonly path: string;
  /** The current state; for a missing file, the last reported state. */
  readonly mark: Mark;
}

export interface ChangesPlan {
  /** Changes of files that have come to rest, by path. */
  readonly changes: readonly FolderChange[];
  /** All files whose state differs from the reported one. */
  readonly resting: Resting;
  /** Milliseconds until the next of them comes to rest; undefined when there is none. */
  readonly again: number | undefined;
}

/**
 * Milliseconds without a change after which a file is reported, so that files are not reported while they are
 * written.
 */
export const restMs = 1000;

/**
 * Returns the changes between `reported` and `found`. A mark was read at some time during its look, so a file
 * counts as at rest from the end of the first look that found its mark to the beginning of this one.
 */
export function planChanges(
  reported: Marks,
  found: Marks,
  before: Resting,
  { begun, ended }: Look,
): ChangesPlan {
  const changes: FolderChange[] = [];
  const resting = new Map<string, Rest>();
  let again: number | undefined;
  const restsSince = (path: string, mark: Mark | undefined) => {
    const rest = before.get(path);
    return rest && isSame(rest.mark, mark) ? rest.since : ended;
  };
  const look = (path: string, old: Mark | undefined, mark: Mark | undefined) => {
    if (isSame(old, mark)) return;
    const since = restsSince(path, mark);
    const is = mark ?? old;
    resting.set(path, { mark, since });
    if (begun < since + restMs) {
      const left = Math.max(0, since + restMs - ended);
      again = Math.min(again ?? left, left);
    } else if (is) changes.push({ type: typeOf(old, mark), path, mark: is });
  };
  for (const [path, mark] of found) look(path, reported.get(path), mark);
  for (const [path, old] of reported) if (!found.has(path)) look(path, old, undefined);
  changes.sort((a, b) => (a.path < b.path ? -1 : 1));
  return { changes, resting, again };
}

const typeOf = (old: Mark | undefined, mark: Mark | undefined): ChangeType => {
  if (!old) return 'Created';
  return mark ? 'Updated' : 'Deleted';
};

const isSame = (a: Mark | undefined, b: Mark | undefined) =>
  a === b || (a !== undefined && b !== undefined && a.size === b.size && a.written === b.written);

/**
 * Returns the files that count as reported for a folder without a stored memory: the files that were in it
 * before. `changed` is the time at which a file was created, moved or last written, `since` the time from
 * which the folder is watched, both in milliseconds since 1970.
 */
export function reportedBefore(
  found: ReadonlyMap<string, Mark & { readonly changed: number }>,
  since: number,
): Map<string, Mark> {
  const before = [...found].filter(([, { changed }]) => changed < since);
  return new Map(before.map(([path, { size, written }]) => [path, { size, written }]));
}
