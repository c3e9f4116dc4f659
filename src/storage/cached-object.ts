/**
 * The objects and events of the watch cache. An object is stored as bytes. Its decoded form is only kept for
 * the most recently decoded objects, within a budget, because both forms of everything would double the
 * memory and the pauses of the garbage collector.
 */
import type { KubeObject } from '../apimachinery/meta.ts';
import { deepFreeze } from '../base/freeze.ts';
import type { CachedObject, CacheEvent } from './cache.ts';
import { decodeObject, decodeUnowned, type EventType, frameObject, withRevision } from './codec.ts';
import { Fifo } from './fifo.ts';

/**
 * Decides which objects stay decoded: the most recently decoded ones whose bytes add up to at most `limit`,
 * and always the last one.
 */
export class DecodedBudget {
  readonly #limit: number;
  readonly #held = new Fifo<StoredObject>();
  #bytes = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  hold(object: StoredObject): void {
    this.#held.push(object);
    this.#bytes += object.bytes.length;
    while (this.#bytes > this.#limit && this.#held.length > 1) {
      const oldest = this.#held.shift() as StoredObject;
      this.#bytes -= oldest.bytes.length;
      oldest.forget();
    }
  }
}

export class StoredObject implements CachedObject {
  readonly key: string;
  readonly revision: number;
  readonly bytes: Buffer;
  readonly #budget: DecodedBudget;
  #decoded: KubeObject | undefined;

  constructor(key: string, revision: number, bytes: Buffer, budget: DecodedBudget) {
    this.key = key;
    this.revision = revision;
    this.bytes = bytes;
    this.#budget = budget;
  }

  get object(): KubeObject {
    if (this.#decoded === undefined) {
      this.#decoded = deepFreeze(decodeObject(this.bytes, this.revision));
      this.#budget.hold(this);
    }
    return this.#decoded;
  }

  get unowned(): KubeObject {
    return this.#decoded ?? decodeUnowned(this.bytes, this.revision);
  }

  forget(): void {
    this.#decoded = undefined;
  }
}

/** Returns an object from a list. Throws SyntaxError if `value` is no Kubernetes object. */
export function listedObject(
  key: string,
  value: Buffer,
  revision: number,
  budget: DecodedBudget,
): StoredObject {
  return new StoredObject(key, revision, withRevision(value, revision), budget);
}

/**
 * Returns the event that makes `value` the current state; for a deletion, `value` is the last state. Throws
 * SyntaxError if `value` is no Kubernetes object.
 */
export function makeEvent(
  type: EventType,
  key: string,
  value: Buffer,
  revision: number,
  previous: CachedObject | undefined,
  budget: DecodedBudget,
): CacheEvent {
  const { frame, object } = frameObject(type, value, revision);
  return { type, key, revision, current: new StoredObject(key, revision, object, budget), previous, frame };
}
