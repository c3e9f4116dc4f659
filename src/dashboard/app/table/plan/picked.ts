/** The rows of a table that the user has selected for an action. Pure. */

export interface Picked {
  readonly uids: ReadonlySet<string>;
  /** UID of the row that was selected or deselected last, at which a range begins; empty for none. */
  readonly anchor: string;
}

export const nonePicked: Picked = { uids: new Set(), anchor: '' };

/** Selects a row, or deselects it if it was selected. */
export const toggled = ({ uids }: Picked, uid: string): Picked => ({
  uids: changed(uids, [uid], !uids.has(uid)),
  anchor: uid,
});

/**
 * Toggles a row and gives all rows between it and the anchor its new state. `order` has the UIDs of the rows
 * as they are shown; an anchor that is not among them is ignored.
 */
export function toggledRange({ uids, anchor }: Picked, uid: string, order: readonly string[]): Picked {
  const [from, to] = [order.indexOf(anchor), order.indexOf(uid)].sort((a, b) => a - b) as [number, number];
  const range = from < 0 ? [uid] : order.slice(from, to + 1);
  return { uids: changed(uids, range, !uids.has(uid)), anchor: uid };
}

/** Selects all shown rows, or deselects them if all are selected. Other selected rows stay so. */
export const toggledAll = (picked: Picked, order: readonly string[]): Picked => ({
  uids: changed(picked.uids, order, shareOf(picked, order) !== 'all'),
  anchor: '',
});

function changed(uids: ReadonlySet<string>, some: readonly string[], isIn: boolean): ReadonlySet<string> {
  const all = new Set(uids);
  for (const uid of some) {
    if (isIn) all.add(uid);
    else all.delete(uid);
  }
  return all;
}

/** Returns the selection without rows that no longer exist; the same object if all exist. */
export function stillThere(picked: Picked, existing: ReadonlySet<string>): Picked {
  const left = [...picked.uids].filter((uid) => existing.has(uid));
  return left.length === picked.uids.size ? picked : { uids: new Set(left), anchor: picked.anchor };
}

export type Share = 'all' | 'some' | 'none';

/** Returns how many of the shown rows are selected. */
export function shareOf({ uids }: Picked, order: readonly string[]): Share {
  if (uids.size === 0) return 'none';
  const count = order.filter((uid) => uids.has(uid)).length;
  if (count === 0) return 'none';
  return count === order.length ? 'all' : 'some';
}
