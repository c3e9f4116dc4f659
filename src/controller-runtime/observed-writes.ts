/**
 * Protects a controller from a cache that lags behind its own writes: a controller does not act on a key
 * again until its informer has shown every write that the controller made for that key. Replaces upstream's
 * expectations, but per object and by resourceVersion, so that nothing is counted twice or missed.
 *
 * An object that was created and deleted inside a gap of the watch is never shown. Such a write is looked up
 * on the server after `verifyAfter`, so that no key waits forever.
 */
import { isTerminating, type KubeObject, type ObjectKey, objectKey } from '../apimachinery/meta.ts';
import type { ResourceRef } from '../apimachinery/resource-definition.ts';
import type { Client } from '../client/client.ts';
import type { Informer, Lister } from '../client/informer.ts';
import { ifPresent } from './if-present.ts';

/** Milliseconds after which an unseen write is looked up on the server. */
export const verifyAfter = 5_000;

interface Write {
  readonly owner: ObjectKey;
  readonly object: KubeObject;
  readonly deleted: boolean;
  since: number;
}

export class ObservedWrites<T extends KubeObject> {
  readonly #byUid = new Map<string, Write>();
  readonly #byOwner = new Map<ObjectKey, Set<Write>>();
  readonly #lister: Lister<T>;
  readonly #client: Client;
  readonly #kind: ResourceRef<T>;

  constructor(client: Client, kind: ResourceRef<T>, informer: Informer<T>) {
    this.#client = client;
    this.#kind = kind;
    this.#lister = informer.lister;
    informer.addEventHandler({
      onAdd: (object) => this.#seen(object),
      onUpdate: (object) => this.#seen(object),
      onDelete: (object) => this.#forget(object.metadata.uid),
    });
  }

  /** Records the server's answer to a create or an update made for `owner`. */
  written(owner: ObjectKey, object: T, now: number): void {
    this.#expect({ owner, object, deleted: false, since: now });
  }

  /** Records that the server accepted the deletion of `object`. */
  removed(owner: ObjectKey, object: T, now: number): void {
    this.#expect({ owner, object, deleted: true, since: now });
  }

  /**
   * Returns true if the cache shows all writes made for `owner`. Otherwise an event, or a call after
   * `verifyAfter`, will show them.
   */
  async settled(owner: ObjectKey, now: number): Promise<boolean> {
    for (const write of [...(this.#byOwner.get(owner) ?? [])])
      if (now - write.since >= verifyAfter) await this.#verify(write, now);
    return !this.#byOwner.has(owner);
  }

  #expect(write: Write): void {
    const { uid } = write.object.metadata;
    const cached = this.#lister.get(objectKey(write.object));
    if (cached ? shows(cached, write) : write.deleted || isLast(write.object)) return;
    this.#forget(uid);
    this.#byUid.set(uid, write);
    const writes = this.#byOwner.get(write.owner) ?? new Set();
    this.#byOwner.set(write.owner, writes.add(write));
  }

  #seen(object: T): void {
    const write = this.#byUid.get(object.metadata.uid);
    if (write && shows(object, write)) this.#forget(object.metadata.uid);
  }

  #forget(uid: string): void {
    const write = this.#byUid.get(uid);
    if (!write) return;
    this.#byUid.delete(uid);
    const writes = this.#byOwner.get(write.owner);
    writes?.delete(write);
    if (writes?.size === 0) this.#byOwner.delete(write.owner);
  }

  async #verify(write: Write, now: number): Promise<void> {
    const { name, namespace, uid } = write.object.metadata;
    const live = await ifPresent(this.#client.resource(this.#kind).get(name, namespace));
    // The cached version of a deleted object is old; its deletion event is still to come.
    const isCached = this.#lister.get(objectKey(write.object))?.metadata.uid === uid;
    if (live?.metadata.uid === uid || isCached) write.since = now;
    else this.#forget(uid);
  }
}

/**
 * Returns true if the write deletes the object, because it removes the last finalizer. The cache has shown
 * the object before. The deletion may be observed before the answer to the write arrives.
 */
const isLast = (object: KubeObject) => isTerminating(object) && !object.metadata.finalizers?.length;

/**
 * Returns true if `seen` shows the write. A resourceVersion is the store's revision: a number that grows with
 * every write.
 */
function shows(seen: KubeObject, write: Write): boolean {
  if (seen.metadata.uid !== write.object.metadata.uid) return true;
  if (write.deleted) return isTerminating(seen);
  return BigInt(seen.metadata.resourceVersion) >= BigInt(write.object.metadata.resourceVersion);
}
