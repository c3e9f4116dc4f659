/** Converts cumulative CPU times to rates, and to sums that never decrease. Pure except for its memory. */

export interface CpuReading {
  /** Milliseconds since the epoch. */
  readonly at: number;
  /** Nanoseconds since the start. */
  readonly total: number;
  /** Billionths of a CPU since the previous reading; undefined at the first one. */
  readonly rate: number | undefined;
}

interface Sample {
  readonly at: number;
  readonly total: number;
}

/** Minimum interval of readings: a shorter one gives no meaningful rate. */
const minMs = 500;

/**
 * Keeps the last readings by key, for example a container's id, so that a restarted container begins anew.
 */
export class CpuHistory {
  readonly #last = new Map<string, CpuReading>();

  take(key: string, { at, total }: Sample): CpuReading {
    const last = this.#last.get(key);
    if (last && at - last.at < minMs) return last;
    const rate = last && Math.max(0, Math.round(((total - last.total) * 1000) / (at - last.at)));
    const reading = { at, total: Math.max(total, last?.total ?? 0), rate };
    this.#last.set(key, reading);
    return reading;
  }

  /** Returns the last reading; undefined when there is none. */
  last(key: string): CpuReading | undefined {
    return this.#last.get(key);
  }

  keep(keys: ReadonlySet<string>): void {
    for (const key of this.#last.keys()) if (!keys.has(key)) this.#last.delete(key);
  }
}

/**
 * Total CPU time of all containers that a pod ever had. A container that has ended, or temporarily cannot be
 * read, counts with its last value: a sum that decreases would be taken for a counter reset, and show as a
 * spike.
 */
export class PodCpuTotals {
  readonly #pods = new Map<string, Map<string, number>>();

  /**
   * Returns the total in nanoseconds. `containers` has the nanoseconds of each container that could be read,
   * by id.
   */
  take(uid: string, containers: ReadonlyMap<string, number>): number {
    const known = this.#pods.get(uid) ?? new Map<string, number>();
    this.#pods.set(uid, known);
    for (const [id, total] of containers) known.set(id, Math.max(total, known.get(id) ?? 0));
    fold(known, containers);
    return [...known.values()].reduce((sum, total) => sum + total, 0);
  }

  keep(uids: ReadonlySet<string>): void {
    for (const uid of this.#pods.keys()) if (!uids.has(uid)) this.#pods.delete(uid);
  }
}

/**
 * Combines old containers into one entry; otherwise a container that crashes for weeks would fill the memory.
 */
function fold(known: Map<string, number>, current: ReadonlyMap<string, number>): void {
  const gone = [...known.keys()].filter((id) => id !== ended && !current.has(id));
  for (const id of gone.slice(0, Math.max(0, gone.length - maxApart))) {
    known.set(ended, (known.get(ended) ?? 0) + (known.get(id) ?? 0));
    known.delete(id);
  }
}

const ended = '';
const maxApart = 64;
