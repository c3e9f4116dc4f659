/**
 * Selects the images that are removed when the disk is full (upstream: pkg/kubelet/images image_gc_manager).
 * Pure.
 */

/** An image that came to this machine for a pod. Times in milliseconds since the epoch. */
export interface RecordedImage {
  /** Names under which pods pulled the image. */
  readonly names: readonly string[];
  readonly since: number;
  /** Time at which the image was last seen in use. */
  readonly usedAt: number;
}

export interface PresentImage {
  readonly id: string;
  readonly names: readonly string[];
  readonly sizeBytes: number;
}

export interface ImageThresholds {
  /** Percentage of the disk in use, from 0 to 100, from which on images are removed. */
  readonly highPercent: number;
  /** Percentage down to which images are removed. */
  readonly lowPercent: number;
  /**
   * Milliseconds that an image is kept after it was pulled: it may be for a container that is about to start.
   */
  readonly minAgeMs: number;
}

export const defaultImageThresholds: ImageThresholds = {
  highPercent: 85,
  lowPercent: 80,
  minAgeMs: 120_000,
};

/**
 * Returns the bytes to free; 0 for enough room, or where images must never be removed (`highPercent` is 100).
 */
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
  /** Names to remove; the image is gone after the last one. */
  readonly names: readonly string[];
  readonly sizeBytes: number;
}

/**
 * Returns the images that are unused, have only names from pods, and are old enough; the longest unused
 * first.
 */
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
      // An image without names is removed by its id. Tags come first: a digest is removed with the last tag
      // of its repository.
      names:
        names.length > 0 ? names.toSorted((a, b) => Number(a.includes('@')) - Number(b.includes('@'))) : [id],
      sizeBytes,
    }));
}

/** Returns true for a name from a pod; a pull by tag also adds a digest of the same repository. */
function isOfPods(name: string, given: readonly string[]): boolean {
  const wanted = fullName(name);
  if (!name.includes('@')) return given.some((other) => fullName(other) === wanted);
  return given.some((other) => repositoryOf(other) === repositoryOf(name));
}

const fullName = (name: string) => (/:[^/:]+$/.test(name) || name.includes('@') ? name : `${name}:latest`);
const repositoryOf = (name: string) => name.replace(/@.*$/, '').replace(/:[^/:]+$/, '');
