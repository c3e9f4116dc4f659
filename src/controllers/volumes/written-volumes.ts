/**
 * Holds volumes as this process last wrote them, until the cache shows the write, so that no volume is chosen
 * that is already taken. Writes of other processes are detected as conflicts.
 */
import type { PersistentVolume } from '../../api/core/v1/types.gen.ts';

export class WrittenVolumes {
  readonly #written = new Map<string, PersistentVolume>();
  /** Names of volumes that are being written. */
  readonly #held = new Set<string>();

  /** Returns the newer version of a volume, or undefined while it is being written. */
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

  /**
   * Runs `write`, which resolves to the written volume. The volume is not available to others in the
   * meantime.
   */
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

  /** Forgets a deleted volume. */
  forget(name: string): void {
    this.#written.delete(name);
  }
}
