/** The tree of an object: its owners, and all that it owns. Pure. */
import type { JsonObject } from '../../apimachinery/equality.ts';
import { byOwner, type OwnedMetadata, ownersAbove } from '../../views/owners.ts';
import { metadataOf, recordsAt, textAt } from '../objects/objects.ts';

/** An object of the cluster with the cells that its server prints. */
export interface TreeObject {
  readonly kind: string;
  /** The object, with at least its `metadata`. */
  readonly object: JsonObject;
  /** Cells by the names of their columns in lower case. */
  readonly cells: ReadonlyMap<string, string>;
}

/** A line of the tree. */
export interface Branch {
  readonly object: TreeObject;
  /** Lines that lead to the object, such as `│ └─`. */
  readonly lines: string;
}

const uidOf = ({ object }: TreeObject) => metadataOf(object).uid;
const ownedMetadata = ({ object }: TreeObject): OwnedMetadata => ({
  uid: metadataOf(object).uid,
  ownerReferences: recordsAt(object, 'metadata', 'ownerReferences').map((owner) => ({
    uid: textAt(owner, 'uid'),
    controller: owner.controller === true,
  })),
});
const title = ({ kind, object }: TreeObject) => `${kind}/${metadataOf(object).name}`;

/**
 * Returns the lines from the topmost owner down to the object, and below it all that it owns, by kind and
 * name. An object that several objects own stands below each of them; the objects that it owns itself stand
 * only below the first.
 */
export function treeOf(root: TreeObject, all: readonly TreeObject[]): readonly Branch[] {
  const owned = byOwner(all, ownedMetadata);
  const path = ownersAbove(root, all, ownedMetadata);
  const above = path.map((object, depth) => ({
    object,
    lines: depth === 0 ? '' : `${'  '.repeat(depth - 1)}└─`,
  }));
  const indent = '  '.repeat(Math.max(0, path.length - 1));
  const own: Branch = { object: root, lines: path.length === 0 ? '' : `${indent}└─` };
  const below = branches(
    owned,
    root,
    path.length === 0 ? '' : `${indent}  `,
    new Set([root, ...path].map(uidOf)),
  );
  return [...above, own, ...below];
}

/**
 * Returns the lines below an object, and adds the uids of their objects to `shown`. What an object owns is
 * not repeated if `shown` has the object already.
 */
function branches(
  owned: ReadonlyMap<string, readonly TreeObject[]>,
  parent: TreeObject,
  indent: string,
  shown: Set<string>,
): readonly Branch[] {
  const children = (owned.get(uidOf(parent)) ?? []).toSorted((a, b) => (title(a) < title(b) ? -1 : 1));
  return children.flatMap((object, index) => {
    const isLast = index === children.length - 1;
    const branch: Branch = { object, lines: `${indent}${isLast ? '└─' : '├─'}` };
    if (shown.has(uidOf(object))) return [branch];
    shown.add(uidOf(object));
    return [branch, ...branches(owned, object, `${indent}${isLast ? '  ' : '│ '}`, shown)];
  });
}

export const treeHeaders = ['NAMESPACE', 'NAME', 'READY', 'STATUS', 'AGE'] as const;

/** Columns in which kinds print their state, by their names in lower case. */
const stateColumns = ['status', 'phase', 'reason', 'state', 'type'];

/** Returns the cells of a line. `-` stands for a kind that prints no such column. */
export function treeRow({ object, lines }: Branch): readonly string[] {
  const { namespace } = metadataOf(object.object);
  const state = stateColumns.map((name) => object.cells.get(name)).find((text) => text !== undefined);
  return [
    namespace || '-',
    `${lines}${title(object)}`,
    object.cells.get('ready') ?? '-',
    state ?? '-',
    object.cells.get('age') ?? '-',
  ];
}
