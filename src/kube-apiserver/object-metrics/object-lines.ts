/**
 * The lines of objects, cached between pages in as little memory as possible. Only the end of each line is
 * cached, `,phase="Running"} 1`: the name of the family and the labels of the object precede it, and many
 * objects share the same end. Pure.
 */
import type { KubeObject } from '../../apimachinery/meta.ts';
import { BoundedMap } from '../../base/bounded-map.ts';
import { labelPairs, numberText, type Sample } from '../../base/metrics/exposition.ts';
import type { CachedObject } from '../../storage/cache.ts';
import type { ObjectMetrics } from './family.ts';

/** Samples of one family: one, several, or none, each as the end of its line. */
export type Ends = string | readonly string[] | undefined;

export interface ObjectLines {
  /** The version of the object that the lines describe. */
  readonly object: CachedObject;
  /** `namespace="a",pod="b"`. */
  readonly labels: string;
  /** Line ends in the order of the kind's families. */
  readonly ends: readonly Ends[];
}

/** Maximum number of ends in the pool; an evicted end is only no longer shared with later objects. */
const sharedEnds = 4096;

export class EndsPool {
  readonly #known = new BoundedMap<Ends & {}>(sharedEnds);

  of(samples: readonly Sample[]): Ends {
    if (samples.length === 0) return undefined;
    // Duplicate samples become one line: an object may contain the same port, host or address twice.
    const written = [...new Set(samples.map(endOf))];
    const text = written.length === 1 ? (written[0] as string) : written.join('');
    const known = this.#known.get(text);
    if (known !== undefined) return known;
    const ends = written.length === 1 ? text : written;
    this.#known.set(text, ends);
    return ends;
  }
}

/** Joined into one string: a concatenated string would keep its parts in memory. */
function endOf({ labels, value }: Sample): string {
  const pairs = labels ? labelPairs(labels) : '';
  return [pairs === '' ? '' : ',', pairs, '} ', numberText(value), '\n'].join('');
}

export function linesOf(metrics: ObjectMetrics, object: CachedObject, pool: EndsPool): ObjectLines {
  const read: KubeObject = object.unowned;
  return {
    object,
    labels: labelPairs(metrics.labelsOf(read)),
    ends: metrics.families.map(({ samplesOf }) => pool.of(samplesOf(read))),
  };
}

/**
 * Reuses the lines of the previous page; objects and lines are both in the order of their keys. `next`
 * returns the lines of the same version of the object; undefined if there are none. It must be called for the
 * objects in their order.
 */
export class KnownLines {
  readonly #before: readonly ObjectLines[];
  #at = 0;

  constructor(before: readonly ObjectLines[]) {
    this.#before = before;
  }

  next(object: CachedObject): ObjectLines | undefined {
    let known = this.#before[this.#at];
    while (known && known.object !== object && known.object.key < object.key) {
      this.#at++;
      known = this.#before[this.#at];
    }
    if (known?.object !== object) return undefined;
    this.#at++;
    return known;
  }
}
