/** The objects of a cluster at one time, with the indexes that rules use. Pure. */
import type { JsonObject } from '../apimachinery/equality.ts';
import { metadataOf, recordAt, recordsAt, textAt } from '../apimachinery/fields.ts';
import type { Steps } from '../apimachinery/steps.ts';
import { isPartOfOwner, type KindKey, keyOfKind, kindKeys, type ObjectRef } from './kinds.ts';
import { LazyIndex } from './lazy-index.ts';

export interface SnapshotSource {
  /** Time of the snapshot, in milliseconds since the epoch. */
  readonly nowMs: number;
  /** Objects of each kind that was read; a kind is absent if its objects may not be read. */
  readonly objects: Readonly<Partial<Record<KindKey, readonly JsonObject[]>>>;
  /** Called with a kind that a rule requested and that was not read. */
  readonly onUnread?: (key: KindKey) => void;
}

export const refOf = (key: KindKey, object: JsonObject): ObjectRef => ({
  key,
  namespace: namespaceIn(object),
  name: nameIn(object),
});

const nothing: readonly JsonObject[] = [];
const place = (namespace: string, name: string) => `${namespace}/${name}`;
const nameIn = (object: JsonObject) => textAt(object, 'metadata', 'name');
const namespaceIn = (object: JsonObject) => textAt(object, 'metadata', 'namespace');

export class Snapshot {
  readonly nowMs: number;
  readonly #objects: SnapshotSource['objects'];
  readonly #onUnread: SnapshotSource['onUnread'];
  readonly #byName: ReadonlyMap<KindKey, LazyIndex<JsonObject>>;
  readonly #byNamespace: ReadonlyMap<KindKey, LazyIndex<JsonObject>>;
  readonly #byOwner = new LazyIndex<Owned>(
    () => ownedKinds.flatMap((key) => this.#all(key).map((object): Owned => ({ key, object }))),
    ({ key, object }) => explainingOwners(key, object).map(({ uid }) => uid),
  );
  readonly #events = new LazyIndex(
    () => this.#all('events'),
    (event) => [textAt(event, 'involvedObject', 'uid')],
  );
  readonly #podsByLabel = new LazyIndex(
    () => this.#all('pods'),
    (pod) =>
      Object.entries(recordAt(pod, 'metadata', 'labels')).map(([key, value]) =>
        labelKey(namespaceIn(pod), key, String(value)),
      ),
  );

  constructor({ nowMs, objects, onUnread }: SnapshotSource) {
    this.nowMs = nowMs;
    this.#objects = objects;
    this.#onUnread = onUnread;
    const indexes = (keyOf: (object: JsonObject) => string) =>
      new Map(
        kindKeys.map((key) => [
          key,
          new LazyIndex(
            () => this.#all(key),
            (object) => [keyOf(object)],
          ),
        ]),
      );
    this.#byName = indexes((object) => place(namespaceIn(object), nameIn(object)));
    this.#byNamespace = indexes(namespaceIn);
  }

  /** Creates the indexes in steps, for a caller that must not block its thread. */
  *prepare(): Steps<void> {
    const indexes = [...this.#byName.values(), ...this.#byNamespace.values()];
    for (const index of [...indexes, this.#byOwner, this.#events, this.#podsByLabel]) yield* index.prepare();
  }

  /** Returns whether the objects of a kind were read: only then an object that is not here does not exist. */
  isRead(key: KindKey): boolean {
    const isRead = this.#objects[key] !== undefined;
    if (!isRead) this.#onUnread?.(key);
    return isRead;
  }

  #all(key: KindKey): readonly JsonObject[] {
    return this.#objects[key] ?? nothing;
  }

  /** Returns the objects of a kind, of one namespace if it is given. */
  list(key: KindKey, namespace?: string): readonly JsonObject[] {
    this.isRead(key);
    if (namespace === undefined) return this.#all(key);
    return this.#byNamespace.get(key)?.get(namespace) ?? nothing;
  }

  get({ key, namespace, name }: ObjectRef): JsonObject | undefined {
    this.isRead(key);
    return this.#byName.get(key)?.get(place(namespace, name))[0];
  }

  /** Returns whether an object certainly does not exist. */
  isAbsent(ref: ObjectRef): boolean {
    return this.isRead(ref.key) && this.get(ref) === undefined;
  }

  /** Returns the objects whose controller is the object. */
  ownedBy(object: JsonObject): readonly ObjectRef[] {
    for (const key of ownedKinds) this.isRead(key);
    return this.#byOwner.get(uidOf(object)).map((one) => refOf(one.key, one.object));
  }

  /** Returns the events about an object, the newest last. */
  eventsOf(object: JsonObject): readonly JsonObject[] {
    this.isRead('events');
    return this.#events.get(uidOf(object)).toSorted((a, b) => eventTime(a) - eventTime(b));
  }

  /** Returns the pods of a namespace that have all the labels; none without labels. */
  podsWith(namespace: string, labels: Readonly<Record<string, string>>): readonly JsonObject[] {
    this.isRead('pods');
    const wanted = Object.entries(labels);
    const [fewest] = wanted
      .map(([key, value]) => this.#podsByLabel.get(labelKey(namespace, key, value)))
      .toSorted((a, b) => a.length - b.length);
    const has = (pod: JsonObject, key: string, value: string) =>
      textAt(pod, 'metadata', 'labels', key) === value;
    return (fewest ?? nothing).filter((pod) => wanted.every(([key, value]) => has(pod, key, value)));
  }
}

const uidOf = (object: JsonObject) => textAt(object, 'metadata', 'uid');

interface Owned {
  readonly key: KindKey;
  readonly object: JsonObject;
}

/** Kinds whose objects are found by their owners. */
const ownedKinds: readonly KindKey[] = ['replicasets.apps', 'jobs.batch', 'workflowruns.minik8s.io', 'pods'];

const labelKey = (namespace: string, key: string, value: string) => `${namespace}/${key}=${value}`;

/** Returns the time of an event's last occurrence, in milliseconds since the epoch; 0 if it has none. */
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

/**
 * Returns the owners through which an object is explained: its controller, or all owners of a part of them.
 */
export const explainingOwners = (key: KindKey, object: JsonObject): readonly Owner[] =>
  ownersOf(object, (one) => isPartOfOwner(key) || one.controller === true);

function ownersOf(object: JsonObject, takes: (reference: JsonObject) => boolean): readonly Owner[] {
  const namespace = namespaceIn(object);
  return recordsAt(object, 'metadata', 'ownerReferences')
    .filter(takes)
    .map((owner) => {
      const key = keyOfKind(textAt(owner, 'kind'));
      return { uid: textAt(owner, 'uid'), ref: key && { key, namespace, name: textAt(owner, 'name') } };
    });
}
