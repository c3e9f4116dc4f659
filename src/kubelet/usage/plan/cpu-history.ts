/** From cumulative CPU time to rates, and to sums that never fall. Pure but for what it remembers. */

export interface CpuReading {
  /** Milliseconds since the epoch. */
  readonly at: number;
  /** Nanoseconds since the beginning. */
  readonly total: number;
  /** Billionths of a CPU since the reading before; undefined at the first. */
  readonly rate: number | undefined;
}

interface Sample {
  readonly at: number;
  readonly total: number;
}

/** Readings closer together than this say nothing of a rate. */
const shortestMs = 500;

/** Of whatever has a key: a container by its id, so that one that was started again begins anew. */
export class CpuHistory {
  readonly #last = new Map<string, CpuReading>();

  take(key: string, { at, total }: Sample): CpuReading {
    const last = this.#last.get(key);
    if (last && at - last.at < shortestMs) return last;
    const rate = last && Math.max(0, Math.round(((total - last.total) * 1000) / (at - last.at)));
    const reading = { at, total: Math.max(total, last?.total ?? 0), rate };
    this.#last.set(key, reading);
    return reading;
  }

  /** Undefined when it was never taken. */
  last(key: string): CpuReading | undefined {
    return this.#last.get(key);
  }

  keep(keys: ReadonlySet<string>): void {
    for (const key of this.#last.keys()) if (!keys.has(key)) this.#last.delete(key);
  }
}

/**
 * What all containers that a pod ever had have used. One that has ended, or cannot be read for a moment, counts with
 * what was seen of it last: a sum that fell would be read as a counter that began anew, and be a spike.
 */
export class PodCpuTotals {
  readonly #pods = new Map<string, Map<string, number>>();

  /** `containers`: nanoseconds of each container that could be read, by id. Nanoseconds of all. */
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

/** Those of long ago are one entry, or a container that crashes for weeks would fill the memory. */
function fold(known: Map<string, number>, current: ReadonlyMap<string, number>): void {
  const gone = [...known.keys()].filter((id) => id !== ended && !current.has(id));
  for (const id of gone.slice(0, Math.max(0, gone.length - mostApart))) {
    known.set(ended, (known.get(ended) ?? 0) + (known.get(id) ?? 0));
    known.delete(id);
  }
}

const ended = '';
const mostApart = 64;
