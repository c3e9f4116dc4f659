/** The connection to etcd: how it is opened and lost, and its watches. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { StoreRejectedError, StoreUnavailableError } from '../../../src/storage/store.ts';
import { FaultyProxy } from '../../conformance/faulty-proxy.ts';
import { EtcdWire, Status } from '../../fixtures/etcd-wire.ts';
import { until } from '../../fixtures/eventually.ts';
import { RecordingLogger } from '../../fixtures/recording-logger.ts';
import { settled, unavailable, WireWorld } from './wire-world.ts';

describe('connecting', () => {
  it('is given up after 15 s by default', async () => {
    for (const [settleMs, after] of [
      [undefined, 15_000],
      [1000, 1000],
    ] as const) {
      await using world = new WireWorld();
      const wire = await world.etcd();
      wire.answer = unavailable;
      const began = world.clock.now();
      const connecting = world.connect(settleMs ? { settleMs } : {});
      await world.over(connecting);
      await assert.rejects(connecting, StoreUnavailableError);
      // No retry begins within the last two retry intervals (50 ms each) before the deadline.
      const took = world.clock.now() - began;
      assert.ok(took >= after - 100 && took <= after, `${took} ms`);
    }
  });

  it('leaves no socket after a rejection or the close of the store', async () => {
    await using world = new WireWorld();
    const wire = await world.etcd();
    wire.answer = () => {
      throw new Status(7, 'etcdserver: permission denied');
    };
    await assert.rejects(world.connect(), StoreRejectedError);
    await until(() => wire.sessions.size === 0);
    wire.answer = () => ({});
    const store = await world.connect();
    assert.equal(wire.sessions.size, 1);
    await store.close();
    await until(() => wire.sessions.size === 0);
  });

  it('ignores the proxy that the environment names', async () => {
    const names = ['grpc_proxy', 'no_grpc_proxy', 'no_proxy'] as const;
    const before = names.map((name) => process.env[name]);
    for (const name of names) delete process.env[name];
    process.env.grpc_proxy = 'http://127.0.0.1:1';
    try {
      await using wire = await EtcdWire.listen({ host: '127.0.0.1', port: 0 });
      await using world = new WireWorld();
      await world.store({ endpoints: [`http://127.0.0.1:${wire.port}`] });
      assert.equal(wire.sessions.size, 1);
    } finally {
      for (const [at, name] of names.entries()) {
        delete process.env[name];
        if (before[at] !== undefined) process.env[name] = before[at];
      }
    }
  });
});

describe('a silent connection', () => {
  it('is probed after 6 s and given up after 3 s more by default', async () => {
    await using world = new WireWorld();
    const pass = async (ms: number) => {
      await world.network.advance(ms);
      await settled();
    };
    const wire = await world.etcd();
    const proxy = await FaultyProxy.listen({ path: world.path('proxy') }, { path: world.path('0') });
    world.stack.defer(() => proxy.close());
    const store = await world.store({ endpoints: [proxy.endpoint] });
    world.watch(store);
    await until(() => wire.watches[0]?.requests.length);
    await pass(5999);
    assert.equal(wire.pings, 0);
    await pass(1);
    await until(() => wire.pings === 1);
    await settled();
    await pass(3000);
    assert.equal(wire.watches.length, 1, 'it has answered');
    proxy.freeze();
    await pass(3000);
    await pass(2999);
    assert.equal(wire.watches.length, 1);
    await pass(1);
    await until(() => wire.watches.length === 0);
  });

  it('is probed at the configured interval', async () => {
    await using world = new WireWorld();
    const wire = await world.etcd();
    world.watch(await world.store({ keepaliveMs: 2000 }));
    await until(() => wire.watches[0]?.requests.length);
    await world.network.advance(2000);
    await until(() => wire.pings === 1);
  });
});

describe('a watch', () => {
  it('requires a leader, unlike other calls', async () => {
    await using world = new WireWorld();
    const wire = await world.etcd();
    const store = await world.store();
    world.watch(store);
    await until(() => wire.watches.length > 0);
    await store.get('/r/a');
    assert.equal(wire.watches[0]?.headers.hasleader, 'true');
    for (const { headers } of wire.calls) assert.equal(headers.hasleader, undefined);
  });

  it('gets writes, and continues when its stream breaks', async () => {
    await using world = new WireWorld();
    const wire = await world.etcd();
    const { values } = world.watch(await world.store());
    await until(() => wire.watches[0]?.requests.length);
    wire.watches[0]?.put('/r/a', 'A', 8);
    await until(() => values.length === 1);
    const [broken] = wire.watches;
    broken?.fail(14, 'etcdserver: no leader');
    await world.inTime(() => wire.watches[0] !== broken && wire.watches[0]?.requests.length);
    const [request = assert.fail()] = wire.watches[0]?.requests ?? [];
    assert.equal((request.create_request as Record<string, unknown>).start_revision, '8');
    wire.watches[0]?.put('/r/b', 'B', 9);
    await until(() => values.length === 2);
    assert.deepEqual(values, ['A', 'B']);
  });

  it('that breaks repeatedly logs the reason', async () => {
    await using world = new WireWorld();
    const wire = await world.etcd();
    const log = new RecordingLogger();
    world.watch(await world.store({ log }));
    const broken = new Set<unknown>();
    await world.inTime(() => {
      const [open] = wire.watches;
      if (open && !broken.has(open)) open.fail(14, 'etcdserver: no leader');
      broken.add(open);
      return log.of('warn').length > 0;
    });
    assert.deepEqual(log.of('warn'), [
      {
        level: 'warn',
        message: 'etcd cannot be reached, trying again',
        fields: { after: 7, error: '14 UNAVAILABLE: etcdserver: no leader' },
      },
    ]);
  });

  it('sends a progress request to etcd', async () => {
    await using world = new WireWorld();
    const wire = await world.etcd();
    const store = await world.store();
    world.watch(store);
    await until(() => wire.watches[0]?.requests.length);
    // The request is sent only after the client has received etcd's confirmation of the watch.
    await until(() => {
      store.requestProgress();
      return wire.watches[0]?.requests[1];
    });
    assert.ok(wire.watches[0]?.requests[1]?.progress_request);
  });

  it('that is aborted ends in etcd too', async () => {
    await using world = new WireWorld();
    const wire = await world.etcd();
    const { stop, ended } = world.watch(await world.store());
    await until(() => wire.watches[0]?.requests.length);
    stop();
    await ended;
    await until(() => wire.watches.length === 0);
  });
});
