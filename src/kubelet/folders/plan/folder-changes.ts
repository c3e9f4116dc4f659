/** What has changed in a folder between what was told of it and what is in it now. Pure. */
import type { ChangeType } from '../../../api/minik8s/v1/trigger-fields.ts';

/** What tells one state of a file from another. */
export interface Mark {
  /** Bytes. */
  readonly size: number;
  /** When it was written last: nanoseconds since 1970, in decimal. */
  readonly written: string;
}

/** By path, relative to the folder. */
export type Marks = ReadonlyMap<string, Mark>;

/** A file as it is found, or is found gone, and since when it is so. */
interface Rest {
  readonly mark: Mark | undefined;
  /** Milliseconds of a clock that only goes forward. */
  readonly since: number;
}

export type Resting = ReadonlyMap<string, Rest>;

export interface FolderChange {
  readonly type: ChangeType;
  readonly path: string;
  /** As it is; of a file that is gone as it was told last. */
  readonly mark: Mark;
}

export interface ChangesPlan {
  /** Those at rest, by path. */
  readonly changes: readonly FolderChange[];
  /** All that differ from what was told. */
  readonly resting: Resting;
  /** Milliseconds until the next of them is at rest; undefined when there is none. */
  readonly again: number | undefined;
}

/** A file that is being written is told when it has not changed for so many milliseconds. */
export const restMs = 1000;

export function planChanges(told: Marks, found: Marks, before: Resting, now: number): ChangesPlan {
  const changes: FolderChange[] = [];
  const resting = new Map<string, Rest>();
  let again: number | undefined;
  const look = (path: string, old: Mark | undefined, mark: Mark | undefined) => {
    if (isSame(old, mark)) return;
    const rest = before.get(path);
    const since = rest && isSame(rest.mark, mark) ? rest.since : now;
    const left = restMs - (now - since);
    const is = mark ?? old;
    resting.set(path, { mark, since });
    if (left > 0) again = Math.min(again ?? left, left);
    else if (is) changes.push({ type: typeOf(old, mark), path, mark: is });
  };
  for (const [path, mark] of found) look(path, told.get(path), mark);
  for (const [path, old] of told) if (!found.has(path)) look(path, old, undefined);
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
 * What counts as told of a folder of which nothing is remembered: what was in it before. `changed` is when the file was made, moved
 * or written last, `since` when the folder began to be watched, both in milliseconds since 1970.
 */
export function toldBefore(
  found: ReadonlyMap<string, Mark & { readonly changed: number }>,
  since: number,
): Map<string, Mark> {
  const before = [...found].filter(([, { changed }]) => changed < since);
  return new Map(before.map(([path, { size, written }]) => [path, { size, written }]));
}
