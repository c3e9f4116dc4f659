/** Calls to etcd: the messages on the wire, and the handling of failures and long answers. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { CompactedError, StoreRejectedError } from '../../../src/storage/store.ts';
import { Status } from '../../fixtures/etcd-wire.ts';
import { bytes, pair, unavailable, WireWorld } from './wire-world.ts';

describe('a call', () => {
  it('carries its request and its answer unchanged', async () => {
    await using world = new WireWorld();
    const wire = await world.etcd();
    const store = await world.store();
    wire.answer = () => ({ kvs: [pair('/r/a', 'A')], count: '1' });
    assert.deepEqual(await store.get('/r/a'), { key: '/r/a', value: bytes('A'), revision: 5 });
    await store.compact(6);
    assert.deepEqual(
      wire.named('Compact').map(({ request }) => request.revision),
      ['6'],
    );
    assert.equal(await store.create('/r/b', bytes('B')), 7);
    const [{ request } = assert.fail()] = wire.named('Txn');
    const { compare, success, failure } = request as Record<string, Record<string, unknown>[]>;
    assert.deepEqual(
      compare?.map(({ key, target, mod_revision: revision }) => [String(key), target, revision]),
      [
        ['/r/b', 'Mod', '0'],
        ['/r.fence', 'Mod', '0'],
      ],
    );
    const put = success?.[0]?.request_put as Record<string, unknown>;
    assert.deepEqual([success?.length, String(put.key), String(put.value)], [1, '/r/b', 'B']);
    assert.deepEqual(
      failure?.map(({ request_range: range }) => String((range as Record<string, unknown>).key)),
      ['/r/b', '/r.fence'],
    );
  });

  it('has a timeout of 5 s by default', async () => {
    await using world = new WireWorld();
    const wire = await world.etcd();
    await world.store();
    await world.store({ attemptMs: 1234 });
    const given = wire.calls.map(({ name, headers }) => [name, headers['grpc-timeout']]);
    assert.deepEqual(given, [
      ['Range', '5000m'],
      ['Status', '5000m'],
      ['Range', '1234m'],
      ['Status', '1234m'],
    ]);
  });

  it('reaches etcd once for each attempt of the store', async () => {
    await using world = new WireWorld();
    const wire = await world.etcd();
    const store = await world.store();
    let failing = 10;
    wire.answer = () => (failing-- > 0 ? unavailable() : {});
    const before = wire.calls.length;
    const read = store.get('/r/a');
    await world.over(read);
    assert.equal(await read, undefined);
    assert.equal(wire.calls.length - before, 11);
  });

  for (const [code, message, error] of [
    [3, 'etcdserver: key is not provided', StoreRejectedError],
    [7, 'etcdserver: permission denied', StoreRejectedError],
    [8, 'etcdserver: mvcc: database space exceeded', StoreRejectedError],
    [8, 'grpc: received message larger than max (9 vs. 8)', StoreRejectedError],
    [9, 'etcdserver: not now', StoreRejectedError],
    [11, 'etcdserver: mvcc: required revision is a future revision', StoreRejectedError],
    [11, 'etcdserver: mvcc: required revision has been compacted', CompactedError],
    [12, 'unknown method', StoreRejectedError],
    [16, 'etcdserver: who is that', StoreRejectedError],
    [2, 'what', undefined],
    [4, 'context deadline exceeded', undefined],
    [10, 'etcdserver: aborted', undefined],
    [13, 'stream terminated', undefined],
    [14, 'etcdserver: request timed out', undefined],
  ] as const) {
    it(`is ${error ? 'rejected' : 'repeated'} after the error ${code}: ${message}`, async () => {
      await using world = new WireWorld();
      const wire = await world.etcd();
      const store = await world.store();
      let failing = 1;
      wire.answer = () => {
        if (failing-- > 0) throw new Status(code, message);
        return {};
      };
      const before = wire.calls.length;
      const read = store.get('/r/a');
      await world.over(read);
      if (error) {
        await assert.rejects(read, (thrown: Error) => {
          assert.equal(thrown.constructor, error);
          assert.match(
            thrown.message,
            new RegExp(`^reading /r/a: ${code} [A-Z_]+: ${RegExp.escape(message)}$`),
          );
          return true;
        });
      } else assert.equal(await read, undefined);
      assert.equal(wire.calls.length - before, error ? 1 : 2);
    });
  }
});
