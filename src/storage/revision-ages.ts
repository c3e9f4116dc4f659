/** When etcd was at which revision: by it history is forgotten that is older than some seconds. */
interface Seen {
  /** Monotonic, in milliseconds. */
  readonly at: number;
  readonly revision: number;
}

export class RevisionAges {
  readonly #keptMs: number;
  /** The oldest first. */
  #seen: readonly Seen[] = [];

  /** `keptMs`: history that is younger is not `old`. */
  constructor(keptMs: number) {
    this.#keptMs = keptMs;
  }

  add(seen: Seen): void {
    this.#seen = [...this.#seen, seen];
  }

  get newest(): number | undefined {
    return this.#seen.at(-1)?.revision;
  }

  /** The newest revision of which it is known that it is old. Forgets all that are older. */
  old(now: number): number | undefined {
    const old = this.#seen.findLast(({ at }) => now - at >= this.#keptMs);
    if (old) this.#seen = this.#seen.filter(({ at }) => at >= old.at);
    return old?.revision;
  }
}
