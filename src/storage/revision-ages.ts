/** Ages of etcd's revisions, to compact history that is older than some seconds. */
interface Seen {
  /** Monotonic time in milliseconds. */
  readonly at: number;
  readonly revision: number;
}

export class RevisionAges {
  readonly #keptMs: number;
  /** Recorded revisions, oldest first. */
  #seen: readonly Seen[] = [];

  /** `keptMs` is the minimum age of an `old` revision. */
  constructor(keptMs: number) {
    this.#keptMs = keptMs;
  }

  add(seen: Seen): void {
    this.#seen = [...this.#seen, seen];
  }

  get newest(): number | undefined {
    return this.#seen.at(-1)?.revision;
  }

  /** Returns the newest revision that is certain to be old. Removes all older entries. */
  old(now: number): number | undefined {
    const old = this.#seen.findLast(({ at }) => now - at >= this.#keptMs);
    if (old) this.#seen = this.#seen.filter(({ at }) => at >= old.at);
    return old?.revision;
  }
}
