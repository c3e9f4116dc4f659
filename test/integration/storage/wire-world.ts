/**
 * Stores that are connected to servers of this process (test/fixtures/etcd-wire.ts), on a clock that only the
 * test moves.
 */
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { silentLogger } from '../../../src/base/log.ts';
import { connectEtcd, type EtcdOptions } from '../../../src/storage/etcd.ts';
import type { Store } from '../../../src/storage/store.ts';
import { makeDirectory } from '../../e2e/harness/belongings.ts';
import { EtcdWire, Status } from '../../fixtures/etcd-wire.ts';
import { until } from '../../fixtures/eventually.ts';
import { FakeClock } from '../../fixtures/fake-clock.ts';
import { SeededRandom } from '../../fixtures/seeded-random.ts';

export const bytes = (text: string) => Buffer.from(text);
export const unavailable = () => {
  throw new Status(14, 'etcdserver: no leader');
};

export const settled = async () => {
  for (let turn = 0; turn < 100; turn++) await nextTurn();
};

/** Servers in place of etcd, and stores that are connected to them. */
export class WireWorld implements AsyncDisposable {
  readonly directory = makeDirectory('minik8s-store-');
  readonly clock = new FakeClock();
  /** Clock of connections and calls. */
  readonly network = new FakeClock();
  readonly stack = new AsyncDisposableStack();
  readonly wires: EtcdWire[] = [];

  path(name: string): string {
    return join(this.directory, name);
  }

  async etcd(): Promise<EtcdWire> {
    const wire = this.stack.use(await EtcdWire.listen({ path: this.path(`${this.wires.length}`) }));
    this.wires.push(wire);
    return wire;
  }

  connect(options: Partial<EtcdOptions> = {}): Promise<Store> {
    return connectEtcd({
      endpoints: this.wires.map((_, at) => `unix:${this.path(`${at}`)}`),
      log: silentLogger,
      clock: this.clock,
      networkClock: this.network,
      random: first,
      ...options,
    });
  }

  async store(options?: Partial<EtcdOptions>): Promise<Store> {
    const store = await this.connect(options);
    this.stack.defer(() => store.close());
    return store;
  }

  /** Watches `/r/` from now on; returns the received values and a function that ends the watch. */
  watch(store: Store) {
    const [abort, values] = [new AbortController(), [] as string[]];
    const ended = (async () => {
      for await (const { events } of store.watch('/r/', 7, abort.signal))
        for (const event of events) values.push(event.type === 'put' ? event.value.toString() : 'gone');
    })();
    ended.catch(() => undefined);
    const stop = () => abort.abort();
    this.stack.defer(stop);
    return { values, stop, ended };
  }

  /** Advances time until the condition is true. */
  async inTime(condition: () => unknown): Promise<void> {
    await until(() => {
      void this.clock.advance(20);
      return condition();
    });
  }

  /** Advances time until the promise is settled. */
  async over(promise: Promise<unknown>): Promise<void> {
    let over = false;
    const end = () => {
      over = true;
    };
    promise.then(end, end);
    while (!over) {
      await until(() => over || this.clock.pending > 0);
      await this.clock.advance(this.clock.nextIn ?? 0);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stack.disposeAsync();
  }
}

/** Returns a source of random numbers with which a store begins at this endpoint. */
export const beginAt = (next: number) => Object.assign(new SeededRandom(1), { next: () => next });
const first = beginAt(0);

export const pair = (key: string, value: string | Buffer, revision = 5) => ({
  key: bytes(key),
  value: Buffer.from(value),
  mod_revision: `${revision}`,
  version: '1',
});
