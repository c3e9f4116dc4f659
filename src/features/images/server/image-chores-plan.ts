/** Plans a master's chores for Images. Pure. */
import type { Image } from '../api/image.ts';
import { isReady } from '../api/image-content.ts';

/** Time without a new piece after which an upload counts as abandoned, at its master and at any other. */
export const abandonedMs = 3_600_000;
export const abandonedAnywhereMs = 24 * 3_600_000;

export interface SeenImage {
  readonly image: Image;
  /** True if this master has all blobs of the content that pods get. */
  readonly keeps: boolean;
  /** Time of the last piece that arrived here, in milliseconds since the epoch; 0 for none. */
  readonly lastPieceAt: number;
}

export type ImageChore =
  /** Delete the Image: its first upload was abandoned. */
  | 'remove'
  /** Restore the content that pods get in the spec: an upload of other content was abandoned. */
  | 'revert'
  /** Add this master to the status. */
  | 'keeps'
  /** Remove this master from the status: it has lost the blobs. */
  | 'lost';

export function imageChores(
  seen: readonly SeenImage[],
  master: string,
  now: number,
): readonly { readonly image: Image; readonly chore: ImageChore }[] {
  return seen.flatMap((one) => {
    const chore = abandoned(one, master, now) ?? holding(one, master);
    return chore ? [{ image: one.image, chore }] : [];
  });
}

function abandoned({ image, lastPieceAt }: SeenImage, master: string, now: number): ImageChore | undefined {
  const { metadata, status } = image;
  if (isReady(image)) return undefined;
  const isHere = status?.uploadingTo === master;
  const created = Date.parse(metadata.creationTimestamp ?? '') || 0;
  // A replacement begins long after the creation, and its pieces may arrive at another master.
  const last = Math.max(lastPieceAt, status?.content ? 0 : created);
  if (status?.content && !isHere) return undefined;
  if (now - last < (isHere ? abandonedMs : abandonedAnywhereMs)) return undefined;
  return status?.content ? 'revert' : 'remove';
}

function holding({ image, keeps }: SeenImage, master: string): ImageChore | undefined {
  const digest = image.status?.content?.config.digest;
  if (digest === undefined) return undefined;
  const listed = image.status?.masters?.[master] === digest;
  if (keeps === listed) return undefined;
  return keeps ? 'keeps' : 'lost';
}
