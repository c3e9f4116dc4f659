/** The objects of a cluster at one time, with the indexes that rules use. Pure. */
import type { JsonObject } from '../apimachinery/equality.ts';
import { metadataOf, recordsAt, textAt } from '../apimachinery/fields.ts';
import { type KindKey, keyOfKind, type ObjectRef } from './kinds.ts';

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
  #byOwner: ReadonlyMap<string, readonly ObjectRef[]> | undefined;
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
    return this.#byOwner.get(metadataOf(object).uid) ?? [];
  }

  /** Returns the events about an object, the latest last. */
  eventsOf(object: JsonObject): readonly JsonObject[] {
    this.#events ??= grouped(
      this.list('events').toSorted((a, b) => timeOf(a) - timeOf(b)),
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

  #owners(): ReadonlyMap<string, readonly ObjectRef[]> {
    const owned = new Map<string, ObjectRef[]>();
    for (const key of ['replicasets.apps', 'jobs.batch', 'pods'] as const)
      for (const object of this.list(key)) {
        const uid = controllerOf(object)?.uid;
        if (uid === undefined) continue;
        const refs = owned.get(uid);
        if (refs) refs.push(refOf(key, object));
        else owned.set(uid, [refOf(key, object)]);
      }
    return owned;
  }
}

const label = (namespace: string, key: string, value: string) => JSON.stringify([namespace, key, value]);

function grouped(
  objects: readonly JsonObject[],
  keysOf: (object: JsonObject) => readonly string[],
): ReadonlyMap<string, readonly JsonObject[]> {
  const groups = new Map<string, JsonObject[]>();
  for (const object of objects)
    for (const key of keysOf(object)) {
      const group = groups.get(key);
      if (group) group.push(object);
      else groups.set(key, [object]);
    }
  return groups;
}

/** Returns the time of an event's last occurrence, in milliseconds since the epoch; 0 if it says none. */
function timeOf(event: JsonObject): number {
  const at = textAt(event, 'series', 'lastObservedTime') || textAt(event, 'lastTimestamp');
  const time = Date.parse(at || textAt(event, 'eventTime') || metadataOf(event).creationTimestamp || '');
  return Number.isNaN(time) ? 0 : time;
}

/** Returns the controller of an object, with its kind's key if the kind is explained. */
export function controllerOf(
  object: JsonObject,
): { readonly uid: string; readonly ref: ObjectRef | undefined } | undefined {
  const owner = recordsAt(object, 'metadata', 'ownerReferences').find((one) => one.controller === true);
  if (!owner) return undefined;
  const key = keyOfKind(textAt(owner, 'kind'));
  const { namespace } = metadataOf(object);
  return { uid: textAt(owner, 'uid'), ref: key && { key, namespace, name: textAt(owner, 'name') } };
}
