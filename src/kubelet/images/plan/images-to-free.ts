/** Which images go when the disk is full (upstream: pkg/kubelet/images image_gc_manager). Pure. */

/** An image that came to this machine for a pod. Times in milliseconds since the epoch. */
export interface RecordedImage {
  /** Those that pods gave it. */
  readonly names: readonly string[];
  readonly since: number;
  /** When it was last seen in use. */
  readonly usedAt: number;
}

export interface PresentImage {
  readonly id: string;
  readonly names: readonly string[];
  readonly sizeBytes: number;
}

export interface ImageThresholds {
  /** Of the disk that is in use, from 0 to 100: from here on images go. */
  readonly highPercent: number;
  /** Until no more than this is in use. */
  readonly lowPercent: number;
  /** Milliseconds that an image stays after it came: it may be for a container that is about to start. */
  readonly minAgeMs: number;
}

export const defaultImageThresholds: ImageThresholds = {
  highPercent: 85,
  lowPercent: 80,
  minAgeMs: 120_000,
};

/** Bytes to free; 0 for enough room, or where images are never to go (`highPercent` is 100). */
export function bytesToFree(
  { size, available }: { readonly size: number; readonly available: number },
  { highPercent, lowPercent }: Pick<ImageThresholds, 'highPercent' | 'lowPercent'>,
): number {
  if (size <= 0 || highPercent >= 100) return 0;
  const left = Math.min(available, size);
  if (100 - Math.floor((left * 100) / size) < highPercent) return 0;
  return Math.max(0, Math.floor((size * (100 - lowPercent)) / 100) - left);
}

export interface FreeableImage {
  readonly id: string;
  /** To be taken off it, after which it is gone. */
  readonly names: readonly string[];
  readonly sizeBytes: number;
}

/** Those that nobody uses, that no other than pods gave a name, and that are old enough; the longest unused first. */
export function freeableImages(
  present: readonly PresentImage[],
  record: ReadonlyMap<string, RecordedImage>,
  used: ReadonlySet<string>,
  { now, minAgeMs }: { readonly now: number; readonly minAgeMs: number },
): readonly FreeableImage[] {
  return present
    .flatMap((image) => {
      const known = record.get(image.id);
      if (!known || used.has(image.id) || now - known.since < minAgeMs) return [];
      return image.names.every((name) => isOfPods(name, known.names)) ? [{ image, known }] : [];
    })
    .toSorted((a, b) => a.known.usedAt - b.known.usedAt || a.known.since - b.known.since)
    .map(({ image: { id, names, sizeBytes } }) => ({
      id,
      // Without any it goes by its id. A tag first: a digest goes with the last tag of its repository.
      names:
        names.length > 0 ? names.toSorted((a, b) => Number(a.includes('@')) - Number(b.includes('@'))) : [id],
      sizeBytes,
    }));
}

/** A pull by tag leaves a digest too, of the same repository. */
function isOfPods(name: string, given: readonly string[]): boolean {
  const wanted = fullName(name);
  if (!name.includes('@')) return given.some((other) => fullName(other) === wanted);
  return given.some((other) => repositoryOf(other) === repositoryOf(name));
}

const fullName = (name: string) => (/:[^/:]+$/.test(name) || name.includes('@') ? name : `${name}:latest`);
const repositoryOf = (name: string) => name.replace(/@.*$/, '').replace(/:[^/:]+$/, '');
