/** Several endpoints of etcd: which endpoint is used, and when the client switches. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { StoreRejectedError } from '../../../src/storage/store.ts';
import { Status } from '../../fixtures/etcd-wire.ts';
import { until } from '../../fixtures/eventually.ts';
import { beginAt, pair, settled, unavailable, WireWorld } from './wire-world.ts';

describe('a client of etcd', () => {
  /** Starts two endpoints and a store that has a watch at the first. */
  async function two(world: WireWorld) {
    const [one, other] = [await world.etcd(), await world.etcd()];
    // Keepalives never detect a dead endpoint here: only calls and watches do.
    const store = await world.store({ keepaliveMs: 600_000 });
    const watch = world.watch(store);
    await until(() => one.watches[0]?.requests.length);
    return { one, other, store, watch };
  }

  it('uses one of several endpoints, chosen at random', async () => {
    await using world = new WireWorld();
    const [one, other] = [await world.etcd(), await world.etcd()];
    await world.store({ random: beginAt(0.49) });
    assert.deepEqual([one.calls.length, other.calls.length], [2, 0]);
    await world.store({ random: beginAt(0.5) });
    assert.deepEqual([one.calls.length, other.calls.length], [2, 2]);
  });

  it('switches to the next endpoint, with all watches, when a call gets no answer', async () => {
    await using world = new WireWorld();
    const { one, other, store, watch } = await two(world);
    one.answer = unavailable;
    other.answer = () => ({ kvs: [pair('/r/a', 'A')] });
    const read = store.get('/r/a');
    await world.over(read);
    assert.equal((await read)?.value.toString(), 'A');
    await world.inTime(() => one.watches.length === 0 && other.watches[0]?.requests.length);
    other.watches[0]?.put('/r/b', 'B', 8);
    await until(() => watch.values.length > 0);
    const before = one.calls.length;
    await store.get('/r/a');
    assert.equal(one.calls.length, before);
  });

  it('switches to the next endpoint when a watch breaks', async () => {
    await using world = new WireWorld();
    const { one, other, store } = await two(world);
    one.watches[0]?.fail(14, 'etcdserver: no leader');
    await world.inTime(() => other.watches[0]?.requests.length);
    const before = one.calls.length;
    await store.get('/r/a');
    assert.equal(one.calls.length, before);
  });

  it('keeps an endpoint that rejects a call, also after the end of a watch', async () => {
    await using world = new WireWorld();
    const { one, other, store, watch } = await two(world);
    one.answer = () => {
      throw new Status(7, 'etcdserver: permission denied');
    };
    await assert.rejects(store.get('/r/a'), StoreRejectedError);
    one.answer = () => ({});
    await store.get('/r/a');
    assert.equal(one.watches.length, 1);
    watch.stop();
    await watch.ended;
    await until(() => one.watches.length === 0);
    await settled();
    await store.get('/r/a');
    assert.deepEqual([other.calls.length, other.watches.length], [0, 0]);
  });

  it('keeps its watches when a call times out, if only one endpoint is given', async () => {
    await using world = new WireWorld();
    const wire = await world.etcd();
    const store = await world.store();
    const { values } = world.watch(store);
    await until(() => wire.watches[0]?.requests.length);
    const [open] = wire.watches;
    let failing = 1;
    wire.answer = () => (failing-- > 0 ? unavailable() : {});
    const read = store.get('/r/a');
    await world.over(read);
    await settled();
    open?.put('/r/a', 'A', 8);
    await until(() => values.length > 0);
    assert.deepEqual(wire.watches, [open]);
  });
});
