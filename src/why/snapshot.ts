/** The objects of a cluster at one time, with the indexes that rules use. Pure. */
import type { JsonObject } from '../apimachinery/equality.ts';
import { metadataOf, recordsAt, textAt } from '../apimachinery/fields.ts';
import { isPartOfOwner, type KindKey, keyOfKind, type ObjectRef } from './kinds.ts';

export interface SnapshotSource {
  /** Time of the snapshot, in milliseconds since the epoch. */
  readonly nowMs: number;
  /** Objects of each kind that was read; a kind is absent if its objects may not be read. */
  readonly objects: Readonly<Partial<Record<KindKey, readonly JsonObject[]>>>;
}

export const refOf = (key: KindKey, object: JsonObject): ObjectRef => {
  const { namespace, name } = metadataOf(object);
  return { key, namespace, name };
};

const nothing: readonly JsonObject[] = [];
const place = (namespace: string, name: string) => `${namespace}/${name}`;

export class Snapshot {
  readonly nowMs: number;
  readonly #objects: SnapshotSource['objects'];
  readonly #byName = new Map<KindKey, ReadonlyMap<string, JsonObject>>();
  readonly #byNamespace = new Map<KindKey, ReadonlyMap<string, readonly JsonObject[]>>();
  #byOwner: ReadonlyMap<string, readonly Owned[]> | undefined;
  #events: ReadonlyMap<string, readonly JsonObject[]> | undefined;
  #podsByLabel: ReadonlyMap<string, readonly JsonObject[]> | undefined;

  constructor({ nowMs, objects }: SnapshotSource) {
    this.nowMs = nowMs;
    this.#objects = objects;
  }

  /** Returns whether the objects of a kind were read: only then does the absence of one mean anything. */
  isRead(key: KindKey): boolean {
    return this.#objects[key] !== undefined;
  }

  /** Returns the objects of a kind, of one namespace if it is given. */
  list(key: KindKey, namespace?: string): readonly JsonObject[] {
    const all = this.#objects[key] ?? nothing;
    if (namespace === undefined) return all;
    let index = this.#byNamespace.get(key);
    if (!index) {
      index = grouped(all, (object) => [metadataOf(object).namespace]);
      this.#byNamespace.set(key, index);
    }
    return index.get(namespace) ?? nothing;
  }

  get({ key, namespace, name }: ObjectRef): JsonObject | undefined {
    let index = this.#byName.get(key);
    if (!index) {
      index = new Map(
        this.list(key).map((object) => {
          const metadata = metadataOf(object);
          return [place(metadata.namespace, metadata.name), object];
        }),
      );
      this.#byName.set(key, index);
    }
    return index.get(place(namespace, name));
  }

  /** Returns whether an object certainly does not exist. */
  isAbsent(ref: ObjectRef): boolean {
    return this.isRead(ref.key) && this.get(ref) === undefined;
  }

  /** Returns the objects whose controller is the object. */
  ownedBy(object: JsonObject): readonly ObjectRef[] {
    this.#byOwner ??= this.#owners();
    return (this.#byOwner.get(metadataOf(object).uid) ?? []).map((one) => refOf(one.key, one.object));
  }

  /** Returns the events about an object, the latest last. */
  eventsOf(object: JsonObject): readonly JsonObject[] {
    this.#events ??= grouped(
      this.list('events').toSorted((a, b) => eventTime(a) - eventTime(b)),
      (event) => [textAt(event, 'involvedObject', 'uid')],
    );
    return this.#events.get(metadataOf(object).uid) ?? nothing;
  }

  /** Returns the pods of a namespace that have all the labels; none without labels. */
  podsWith(namespace: string, labels: Readonly<Record<string, string>>): readonly JsonObject[] {
    this.#podsByLabel ??= grouped(this.list('pods'), (pod) => {
      const metadata = metadataOf(pod);
      return Object.entries(metadata.labels).map(([key, value]) => label(metadata.namespace, key, value));
    });
    const [first, ...more] = Object.entries(labels).map(
      ([key, value]) => this.#podsByLabel?.get(label(namespace, key, value)) ?? nothing,
    );
    if (!first) return nothing;
    const others = more.map((pods) => new Set(pods));
    return first.filter((pod) => others.every((pods) => pods.has(pod)));
  }

  #owners(): ReadonlyMap<string, readonly Owned[]> {
    const all = ownedKinds.flatMap((key) => this.list(key).map((object): Owned => ({ key, object })));
    return grouped(all, ({ key, object }) => explainingOwners(key, object).map(({ uid }) => uid));
  }
}

interface Owned {
  readonly key: KindKey;
  readonly object: JsonObject;
}

/** Kinds whose objects are found by their owners. */
const ownedKinds: readonly KindKey[] = ['replicasets.apps', 'jobs.batch', 'workflowruns.minik8s.io', 'pods'];

const label = (namespace: string, key: string, value: string) => JSON.stringify([namespace, key, value]);

function grouped<T>(
  items: readonly T[],
  keysOf: (item: T) => readonly string[],
): ReadonlyMap<string, readonly T[]> {
  const groups = new Map<string, T[]>();
  for (const item of items)
    for (const key of keysOf(item)) {
      const group = groups.get(key);
      if (group) group.push(item);
      else groups.set(key, [item]);
    }
  return groups;
}

/** Returns the time of an event's last occurrence, in milliseconds since the epoch; 0 if it says none. */
export function eventTime(event: JsonObject): number {
  const at = textAt(event, 'series', 'lastObservedTime') || textAt(event, 'lastTimestamp');
  const time = Date.parse(at || textAt(event, 'eventTime') || metadataOf(event).creationTimestamp || '');
  return Number.isNaN(time) ? 0 : time;
}

/** An owner of an object, with the reference if its kind is explained. */
export interface Owner {
  readonly uid: string;
  readonly ref: ObjectRef | undefined;
}

/** Returns the controller of an object; undefined without one. */
export const controllerOf = (object: JsonObject): Owner | undefined =>
  ownersOf(object, (one) => one.controller === true)[0];

/** Returns the owners through which an object is explained: its controller, for parts of owners all. */
export const explainingOwners = (key: KindKey, object: JsonObject): readonly Owner[] =>
  ownersOf(object, (one) => isPartOfOwner(key) || one.controller === true);

function ownersOf(object: JsonObject, takes: (reference: JsonObject) => boolean): readonly Owner[] {
  const { namespace } = metadataOf(object);
  return recordsAt(object, 'metadata', 'ownerReferences')
    .filter(takes)
    .map((owner) => {
      const key = keyOfKind(textAt(owner, 'kind'));
      return { uid: textAt(owner, 'uid'), ref: key && { key, namespace, name: textAt(owner, 'name') } };
    });
}
