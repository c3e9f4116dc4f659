/**
 * What objects tell, kept from page to page in as little memory as possible. Of each line only its end is kept, `,phase="Running"} 1`:
 * the name of the family and the labels of the object stand before it, and many objects have the same end. Pure.
 */
import type { KubeObject } from '../../apimachinery/meta.ts';
import { BoundedMap } from '../../base/bounded-map.ts';
import { labelPairs, numberText, type Sample } from '../../base/exposition.ts';
import type { CachedObject } from '../../storage/cache.ts';
import type { ObjectMetrics } from './family.ts';

/** Of the samples of one family: one, several, or none. Each with the end of its line. */
export type Ends = string | readonly string[] | undefined;

export interface ObjectLines {
  /** The version of the object that is told. */
  readonly object: CachedObject;
  /** `namespace="a",pod="b"`. */
  readonly labels: string;
  /** In the order of the kind's families. */
  readonly ends: readonly Ends[];
}

/** So many ends are known by what they say; what is forgotten is only no longer shared with objects that come later. */
const sharedEnds = 4096;

export class EndsPool {
  readonly #known = new BoundedMap<Ends & {}>(sharedEnds);

  of(samples: readonly Sample[]): Ends {
    if (samples.length === 0) return undefined;
    // What is said twice is one line: an object may hold the same port, host or address again.
    const written = [...new Set(samples.map(endOf))];
    const text = written.length === 1 ? (written[0] as string) : written.join('');
    const known = this.#known.get(text);
    if (known !== undefined) return known;
    const ends = written.length === 1 ? text : written;
    this.#known.set(text, ends);
    return ends;
  }
}

/** In one piece: a text that is put together of others takes their memory too. */
function endOf({ labels, value }: Sample): string {
  const pairs = labels ? labelPairs(labels) : '';
  return [pairs === '' ? '' : ',', pairs, '} ', numberText(value), '\n'].join('');
}

export function linesOf(metrics: ObjectMetrics, object: CachedObject, pool: EndsPool): ObjectLines {
  const read: KubeObject = object.unowned;
  return {
    object,
    labels: labelPairs(metrics.labelsOf(read)),
    ends: metrics.families.map(({ tell }) => pool.of(tell(read))),
  };
}

/**
 * Takes over what was told of objects before, both in the order of their keys: `next` gives the lines of the same version of the object,
 * undefined where there are none. It is asked for the objects in their order.
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
