/**
 * What a controller has asked for and its cache has not shown yet (client-go's UIDTrackingControllerExpectations):
 * while a key's expectations are open its reconcile must not create or delete again. Deletions are told apart by
 * uid, since an object that is being deleted is seen several times. Expectations lapse after a while, so that an
 * event which never comes cannot stall a controller.
 */
import type { ObjectKey } from '../apimachinery/meta.ts';
import type { Clock } from '../base/clock.ts';

interface Expectation {
  creations: number;
  readonly deletions: Set<string>;
  readonly since: number;
}

export class Expectations {
  readonly #clock: Clock;
  readonly #timeoutMs: number;
  readonly #open = new Map<ObjectKey, Expectation>();

  constructor(clock: Clock, timeoutMs = 300_000) {
    this.#clock = clock;
    this.#timeoutMs = timeoutMs;
  }

  /** Before the requests are sent; replaces what was expected of the key. */
  expect(key: ObjectKey, what: { readonly creations?: number; readonly deletions?: Iterable<string> }): void {
    this.#open.set(key, {
      creations: what.creations ?? 0,
      deletions: new Set(what.deletions),
      since: this.#clock.now(),
    });
  }

  /** An add was seen, or a create has failed and none will be. */
  creationObserved(key: ObjectKey): void {
    const expectation = this.#open.get(key);
    if (expectation && expectation.creations > 0) expectation.creations--;
    this.#settle(key);
  }

  /** The object is gone or going, or its delete has failed. */
  deletionObserved(key: ObjectKey, uid: string): void {
    this.#open.get(key)?.deletions.delete(uid);
    this.#settle(key);
  }

  /** Nothing is expected any more, or it was waited for too long. */
  satisfied(key: ObjectKey): boolean {
    const expectation = this.#open.get(key);
    return !expectation || this.#clock.now() - expectation.since >= this.#timeoutMs;
  }

  /** Milliseconds until open expectations lapse: a key that waits for them should be looked at again then. */
  lapsesIn(key: ObjectKey): number | undefined {
    const expectation = this.#open.get(key);
    return expectation && Math.max(0, expectation.since + this.#timeoutMs - this.#clock.now());
  }

  /** The object of the key is gone. */
  forget(key: ObjectKey): void {
    this.#open.delete(key);
  }

  #settle(key: ObjectKey): void {
    const expectation = this.#open.get(key);
    if (expectation?.creations === 0 && expectation.deletions.size === 0) this.#open.delete(key);
  }
}
