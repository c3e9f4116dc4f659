/** The owners of objects, and what they own, by owner references. Pure. */

export interface OwnedMetadata {
  readonly uid: string;
  readonly ownerReferences?:
    | readonly { readonly uid: string; readonly controller?: boolean | undefined }[]
    | undefined;
}

/** Returns the metadata of an object, whatever holds it. */
type MetadataOf<T> = (one: T) => OwnedMetadata;

/** Indexes objects by the uids of their owners. */
export function byOwner<T>(
  objects: readonly T[],
  metadataOf: MetadataOf<T>,
): ReadonlyMap<string, readonly T[]> {
  const owned = new Map<string, T[]>();
  for (const object of objects)
    for (const uid of new Set((metadataOf(object).ownerReferences ?? []).map((owner) => owner.uid))) {
      const list = owned.get(uid);
      if (list) list.push(object);
      else owned.set(uid, [object]);
    }
  return owned;
}

/**
 * Returns the owners above an object, the topmost first: the controller where there are several, and another
 * owner if that one is not among the objects. A cycle of owners ends at the first repetition.
 */
export function ownersAbove<T>(root: T, objects: readonly T[], metadataOf: MetadataOf<T>): readonly T[] {
  const byUid = new Map(objects.map((one) => [metadataOf(one).uid, one]));
  const path: T[] = [];
  const seen = new Set([metadataOf(root).uid]);
  const ownerOf = (one: T): T | undefined =>
    (metadataOf(one).ownerReferences ?? [])
      .toSorted((a, b) => Number(b.controller === true) - Number(a.controller === true))
      .flatMap(({ uid }) => byUid.get(uid) ?? [])
      .find((owner) => !seen.has(metadataOf(owner).uid));
  for (let at = ownerOf(root); at !== undefined; at = ownerOf(at)) {
    seen.add(metadataOf(at).uid);
    path.unshift(at);
  }
  return path;
}
