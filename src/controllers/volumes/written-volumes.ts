/**
 * Volumes as this process wrote them, until the cache shows that: who looks for a volume meanwhile must not choose one that is given
 * away. What another process writes shows as a conflict.
 */
import type { PersistentVolume } from '../../api/core/v1/types.gen.ts';

export class WrittenVolumes {
  readonly #written = new Map<string, PersistentVolume>();
  /** Names of those that are being written. */
  readonly #held = new Set<string>();

  /** The newer of what is known; undefined while it is being written. */
  latest(cached: PersistentVolume): PersistentVolume | undefined {
    const { name, uid, resourceVersion } = cached.metadata;
    if (this.#held.has(name)) return undefined;
    const written = this.#written.get(name);
    if (!written) return cached;
    const isNewer =
      written.metadata.uid === uid && BigInt(written.metadata.resourceVersion) > BigInt(resourceVersion);
    if (isNewer) return written;
    this.#written.delete(name);
    return cached;
  }

  /** Does `write`, which resolves to the volume as it is then; nobody else is given the volume meanwhile. */
  async hold(name: string, write: () => Promise<PersistentVolume>): Promise<PersistentVolume> {
    this.#held.add(name);
    try {
      const written = await write();
      this.#written.set(name, written);
      return written;
    } finally {
      this.#held.delete(name);
    }
  }

  /** It is there no more. */
  forget(name: string): void {
    this.#written.delete(name);
  }
}
