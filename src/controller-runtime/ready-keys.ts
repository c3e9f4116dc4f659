/** Keys that are ready to be handed out: the most urgent first, the oldest first among equals. */
export class ReadyKeys<K> {
  readonly #urgencyOf: (key: K) => number;
  /** Urgencies of the present keys, ascending. */
  readonly #levels: number[] = [];
  readonly #byLevel = new Map<number, Set<K>>();
  #size = 0;

  constructor(urgencyOf: (key: K) => number = () => 0) {
    this.#urgencyOf = urgencyOf;
  }

  get size(): number {
    return this.#size;
  }

  /** Adds a key, which must not be present yet. The urgency is computed now. */
  add(key: K): void {
    const level = this.#urgencyOf(key);
    this.#size++;
    const equals = this.#byLevel.get(level);
    if (equals) equals.add(key);
    else this.#open(level, key);
  }

  /** Removes and returns the next key, or undefined if there is none. */
  take(): K | undefined {
    const level = this.#levels.at(-1);
    const equals = level === undefined ? undefined : this.#byLevel.get(level);
    if (level === undefined || !equals) return undefined;
    const { value: key } = equals.values().next();
    if (key === undefined) return undefined;
    equals.delete(key);
    this.#size--;
    if (equals.size === 0) {
      this.#byLevel.delete(level);
      this.#levels.pop();
    }
    return key;
  }

  clear(): void {
    this.#levels.length = 0;
    this.#byLevel.clear();
    this.#size = 0;
  }

  #open(level: number, key: K): void {
    this.#byLevel.set(level, new Set([key]));
    let [low, high] = [0, this.#levels.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#levels[middle] as number) < level) low = middle + 1;
      else high = middle;
    }
    this.#levels.splice(low, 0, level);
  }
}
