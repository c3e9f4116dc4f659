/**
 * Stored objects in the version that a client addressed, for kinds whose objects a program converts. Each
 * object and each event is converted once for each version, not once for each request or watch: the results
 * are kept as long as the object in the watch cache, within a budget.
 */
import type { KubeObject } from '../../apimachinery/meta.ts';
import {
  apiVersionOf,
  type ConvertedVersions,
  type ResourceDefinition,
} from '../../apimachinery/resource-definition.ts';
import type { CachedObject, CacheEvent } from '../../storage/cache.ts';
import { DecodedBudget, listedObject } from '../../storage/cached-object.ts';
import { encodeObject, frameObject } from '../../storage/codec.ts';
import { Budget } from '../encoding/made.ts';
import type { Aside } from '../load/shed.ts';
import type { StoredObject } from '../stored-object.ts';
import type { Turns } from '../turns.ts';

/** Budget of kept objects in bytes. */
const keptBytes = 64 << 20;
const decodedBytes = 4 << 20;
/** Maximum size of the objects of one call: their decoding and encoding takes some milliseconds. */
const callBytes = 256 * 1024;
const callObjects = 250;

type Shown = CachedObject | Promise<CachedObject>;
type Known = WeakMap<StoredObject, Shown>;

const atOnce: Aside = (wait) => wait();

/** Returns whether stored objects are already as this version shows them. */
export const isReadUnchanged = (definition: ResourceDefinition): boolean =>
  definition.versions === undefined ||
  (definition.versions.areComplete && definition.versions.stored === apiVersionOf(definition));

export class VersionReader {
  readonly #turns: Pick<Turns, 'next'>;
  readonly #budget = new Budget(keptBytes);
  readonly #decoded = new DecodedBudget(decodedBytes);
  readonly #objects = new WeakMap<ResourceDefinition, Known>();
  readonly #events = new WeakMap<ResourceDefinition, WeakMap<CacheEvent, CacheEvent>>();
  readonly #wholeEvents = new WeakMap<ResourceDefinition, WeakMap<CacheEvent, CacheEvent>>();

  constructor(turns: Pick<Turns, 'next'>) {
    this.#turns = turns;
  }

  /**
   * Resolves to the objects as the version shows them, in the same order. Rejects with the StatusError of a
   * failed conversion. `aside` waits for the program.
   */
  async read<T extends StoredObject>(
    definition: ResourceDefinition,
    items: readonly T[],
    aside: Aside = atOnce,
  ): Promise<readonly T[]> {
    const { versions } = definition;
    if (!versions || isReadUnchanged(definition) || items.length === 0) return items;
    const known = this.#objects.get(definition) ?? new WeakMap<StoredObject, Shown>();
    this.#objects.set(definition, known);
    const unknown = items.filter((item) => !known.has(item));
    if (unknown.length > 0) this.#begin(definition, versions, known, unknown);
    const shown = items.map((item) => known.get(item) as Shown);
    const isReady = !shown.some((one) => one instanceof Promise);
    const results = isReady ? shown : await aside(() => Promise.all(shown));
    return results as readonly CachedObject[] as readonly (T & CachedObject)[];
  }

  /**
   * Resolves to the events with their objects as the version shows them; the previous objects stay as they
   * are stored unless `withPrevious` is set. Rejects as `read` does.
   */
  async readEvents(
    definition: ResourceDefinition,
    events: readonly CacheEvent[],
    withPrevious: boolean,
  ): Promise<readonly CacheEvent[]> {
    if (isReadUnchanged(definition)) return events;
    const all = withPrevious ? this.#wholeEvents : this.#events;
    const known = all.get(definition) ?? new WeakMap<CacheEvent, CacheEvent>();
    all.set(definition, known);
    const objects = events.flatMap(({ current, previous }) =>
      previous && withPrevious ? [current, previous] : [current],
    );
    const shown = await this.read(definition, objects);
    const shownOf = new Map(objects.map((object, index) => [object, shown[index] as CachedObject]));
    return events.map((event) => {
      const made = known.get(event) ?? eventWith(event, shownOf);
      known.set(event, made);
      return made;
    });
  }

  /** Begins the conversion of objects, and keeps promises of the results until these are known. */
  #begin(
    definition: ResourceDefinition,
    versions: ConvertedVersions,
    known: Known,
    items: readonly StoredObject[],
  ): void {
    const calls = callsOf(items).map((call) => ({ call, results: Promise.withResolvers<CachedObject[]>() }));
    for (const { call, results } of calls)
      for (const [index, item] of call.entries())
        known.set(
          item,
          results.promise.then((made) => made[index] as CachedObject),
        );
    void this.#convertAll(apiVersionOf(definition), versions, known, calls);
  }

  async #convertAll(
    apiVersion: string,
    versions: ConvertedVersions,
    known: Known,
    calls: readonly Call[],
  ): Promise<void> {
    let failure: { readonly error: unknown } | undefined;
    for (const { call, results } of calls) {
      try {
        if (failure) throw failure.error;
        const made = await this.#convert(apiVersion, versions, call);
        for (const [index, item] of call.entries()) this.#keep(known, item, made[index] as CachedObject);
        results.resolve(made);
      } catch (error) {
        failure ??= { error };
        for (const item of call) known.delete(item);
        results.reject(error);
      }
    }
  }

  async #convert(
    apiVersion: string,
    versions: ConvertedVersions,
    call: readonly StoredObject[],
  ): Promise<CachedObject[]> {
    await this.#turns.next();
    const read = await versions.read(
      call.map(({ object }) => object),
      apiVersion,
    );
    await this.#turns.next();
    return call.map((item, index) => {
      const object = read[index] as KubeObject;
      const { resourceVersion } = item.object.metadata;
      return listedObject(item.key, encodeObject(object), Number(resourceVersion), this.#decoded);
    });
  }

  #keep(known: Known, item: StoredObject, made: CachedObject): void {
    known.set(item, made);
    const weak = new WeakRef(item);
    this.#budget.hold(made.bytes.length, () => {
      const old = weak.deref();
      if (old) known.delete(old);
    });
  }
}

interface Call {
  readonly call: readonly StoredObject[];
  readonly results: PromiseWithResolvers<CachedObject[]>;
}

/** Divides objects among calls, in their order. An object larger than a call has one of its own. */
function callsOf(items: readonly StoredObject[]): StoredObject[][] {
  const calls: StoredObject[][] = [];
  let bytes = 0;
  for (const item of items) {
    const last = calls.at(-1);
    const { length } = item.bytes;
    if (!last || last.length >= callObjects || bytes + length > callBytes) {
      calls.push([item]);
      bytes = length;
    } else {
      last.push(item);
      bytes += length;
    }
  }
  return calls;
}

/** Returns the event with other objects. Its frame is made once, when a watch needs it. */
function eventWith(event: CacheEvent, shown: ReadonlyMap<CachedObject, CachedObject>): CacheEvent {
  const { type, key, revision, previous } = event;
  const current = shown.get(event.current) ?? event.current;
  let frame: Buffer | undefined;
  return {
    type,
    key,
    revision,
    current,
    previous: previous && (shown.get(previous) ?? previous),
    get frame() {
      frame ??= frameObject(type, current.bytes, revision).frame;
      return frame;
    },
  };
}
