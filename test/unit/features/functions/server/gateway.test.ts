/** Instances that a gateway requests and calls, as the cache changes. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { newNotFound, newStatusError } from '../../../../../src/apimachinery/status-error.ts';
import { silentLogger } from '../../../../../src/base/log.ts';
import { functionResource } from '../../../../../src/features/functions/api/function.ts';
import { Gateway } from '../../../../../src/features/functions/server/gateway.ts';
import { InstanceConnections } from '../../../../../src/features/functions/server/instance-connections.ts';
import type { Cache } from '../../../../../src/storage/cache.ts';
import { FakeClock } from '../../../../fixtures/fake-clock.ts';
import { FakeCache, fn, pod } from './function-cache.ts';

function world(first = fn()) {
  const cache = new FakeCache();
  const clock = new FakeClock();
  const written: (number | null)[] = [];
  const state = { fault: undefined as Error | undefined, held: Promise.resolve() };
  const gateway = new Gateway({
    ...{ cache: cache as unknown as Cache, clock, log: silentLogger, master: 'here' },
    writeDemand: async (_, __, instances) => {
      await state.held;
      if (state.fault) throw state.fault;
      written.push(instances);
    },
  });
  cache.put(first);
  /** Begins a call that is assigned to an instance, or waits; returns its outcome. */
  const call = () => {
    const one = gateway.callsOf('default', 'f').begin();
    const result: { at?: string; error?: string } = {};
    one.place().then(
      ({ pod: { metadata } }) => {
        result.at = metadata.name;
      },
      (error: Error) => {
        result.error = error.message;
      },
    );
    return { result, end: () => one.end() };
  };
  return { cache, clock, written, state, gateway, call };
}

describe('a gateway', () => {
  it('assigns calls to added instances of this function and its version, and to none that is being deleted', async () => {
    const { cache, clock, call } = world();
    cache.put(pod('stranger', { ownerReferences: [{ uid: 'another', controller: true } as never] }));
    const one = call();
    await clock.settle();
    assert.deepEqual(one.result, {});
    cache.put(pod('p'));
    await clock.settle();
    assert.deepEqual(one.result, { at: 'p' });
    one.end();
    // The instance belongs to another function now.
    cache.put(pod('p', { labels: { 'minik8s.io/function': 'g' } }));
    const two = call();
    await clock.settle();
    assert.deepEqual(two.result, {});
    two.end();
  });
  it('receives the changes that happened while its watch was too far behind', async () => {
    const { cache, clock, call } = world();
    const one = call();
    cache.put(pod('p'), false);
    await clock.settle();
    assert.deepEqual(one.result, {});
    cache.expire();
    await clock.settle();
    assert.deepEqual(one.result, { at: 'p' });
    assert.equal(cache.watches.size, 2);
  });
  it('rejects calls that wait for a function that was created again', async () => {
    const { cache, clock, call } = world();
    const one = call();
    cache.put(fn({ activeVersion: 'v1' }, { uid: 'another' }));
    await clock.settle();
    assert.match(one.result.error ?? '', /not found/);
  });
  it('requests instances while there are calls, and none some time later, and then ends its watch', async () => {
    const { cache, clock, call, written } = world();
    const one = call();
    await clock.settle();
    assert.deepEqual([written, cache.watches.size], [[1], 2]);
    one.end();
    await clock.advance(61_000);
    assert.deepEqual([written.at(-1), cache.watches.size, clock.pending], [null, 0, 0]);
  });
  it('retries a failed request for instances, unless the function was deleted', async () => {
    const { clock, call, written, state } = world();
    state.fault = newStatusError('InternalError', 'the store is away');
    const one = call();
    await clock.advance(5000);
    assert.deepEqual(written, []);
    state.fault = undefined;
    await clock.advance(1000);
    assert.deepEqual(written, [1]);
    one.end();
    state.fault = newStatusError('InternalError', 'the store is away');
    await clock.advance(300_000);
    assert.deepEqual(written, [1]);
    state.fault = undefined;
    await clock.advance(1000);
    assert.equal(written.at(-1), null, 'also that none is needed any more');
  });
  it('rejects calls of a deleted function after its request for instances failed, before its watch shows the deletion', async () => {
    const { cache, clock, call, state } = world();
    state.fault = newNotFound(functionResource, 'f');
    cache.remove(fn(), false);
    cache.put(fn(), false);
    const one = call();
    cache.remove(fn(), false);
    await clock.settle();
    assert.match(one.result.error ?? '', /not found/);
    assert.deepEqual([cache.watches.size, clock.pending], [0, 0]);
  });
  it('does not retry a request for a function that was deleted while the request was in transit', async () => {
    const { cache, clock, call, written, state } = world();
    const answer = Promise.withResolvers<void>();
    state.held = answer.promise;
    const one = call();
    cache.remove(fn());
    await clock.settle();
    assert.match(one.result.error ?? '', /not found/);
    answer.reject(newStatusError('InternalError', 'the store is away'));
    await clock.settle();
    assert.deepEqual([written, cache.watches.size, clock.pending], [[], 0, 0]);
  });
  it('does not repeat requests from before its restart', async () => {
    const { gateway, clock, written, cache } = world(
      fn({ activeVersion: 'v1', demand: { here: 3, other: 2 } }),
    );
    gateway.start();
    await clock.advance(61_000);
    assert.deepEqual([written.at(-1), cache.watches.size], [null, 0]);
    const another = world(fn({ activeVersion: 'v1', demand: { other: 2 } }));
    another.gateway.start();
    await another.clock.advance(61_000);
    assert.deepEqual(another.written, []);
    assert.deepEqual([cache.kept, another.cache.kept], [['f'], []], 'one that rests is not kept decoded');
  });
});

it('opens new connections to an instance whose address has changed', () => {
  const connections = new InstanceConnections(async () => assert.fail('nothing is dialed'));
  const instance = { pod: pod('p'), underWay: 0, notBefore: 0, refusals: 0 };
  const first = connections.agentOf(instance);
  assert.equal(connections.agentOf(instance), first);
  const moved = Object.assign(instance, {
    pod: { ...pod('p'), status: { ...pod('p').status, podIP: '10.0.0.2' } },
  });
  assert.notEqual(connections.agentOf(moved as never), first);
});
