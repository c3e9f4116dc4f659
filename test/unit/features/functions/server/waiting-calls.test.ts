/** Calls that wait for an instance: their results, and the functions that the gateway holds meanwhile. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { newStatusError, StatusError } from '../../../../../src/apimachinery/status-error.ts';
import { Registry } from '../../../../../src/base/metrics/registry.ts';
import type { Fn } from '../../../../../src/features/functions/api/function.ts';
import { FunctionCalls } from '../../../../../src/features/functions/server/function-calls.ts';
import { Gateway } from '../../../../../src/features/functions/server/gateway.ts';
import type { Cache } from '../../../../../src/storage/cache.ts';
import { FakeClock } from '../../../../fixtures/fake-clock.ts';
import { RecordingLogger } from '../../../../fixtures/recording-logger.ts';
import { at } from '../../../controllers/objects.ts';
import { FakeCache, fn, pod } from './function-cache.ts';

describe('a call that waits', () => {
  function world(spec: object = {}) {
    const clock = new FakeClock();
    let demands = 0;
    const of = { ...fn(), spec: { ...fn().spec, ...spec } } as Fn;
    const calls = new FunctionCalls(of, { clock, onDemand: () => void demands++ });
    const begin = () => {
      const call = calls.begin();
      const result: { at?: string; error?: unknown } = {};
      const place = () =>
        call.place().then(
          ({ pod: { metadata } }) => {
            result.at = metadata.name;
          },
          (error: unknown) => {
            result.error = error;
          },
        );
      void place();
      return { call, result, place };
    };
    return { clock, calls, begin, of, demandsOf: () => demands };
  }

  it('ends with its result, or without a result as abandoned', async () => {
    const { clock, begin } = world();
    const [first, second] = [begin(), begin()];
    const reason = new Error('too late');
    first.call.end(reason);
    second.call.end();
    await clock.settle();
    assert.equal(first.result.error, reason);
    const { name, message } = second.result.error as DOMException;
    assert.deepEqual([name, message, clock.pending], ['AbortError', 'the call is over', 0]);
    await first.place();
    assert.equal(first.result.error, reason);
  });
  it('too long is rejected with a Retry-After of a second, and leaves the queue', async () => {
    const { clock, calls, begin } = world();
    const { result, call } = begin();
    await clock.advance(60_000);
    const { status } = result.error as StatusError;
    assert.deepEqual(
      [status.code, status.details?.retryAfterSeconds, calls.waiting, clock.pending],
      [503, 1, 0, 0],
    );
    calls.instances.set([pod('one')]);
    calls.dispatch();
    assert.equal(calls.instances.busy, 0);
    call.end();
    assert.equal(calls.isIdle, true);
  });
  it('is rejected with all others if no call will get a place', async () => {
    const { clock, calls, begin } = world();
    const all = [begin(), begin()];
    const error = newStatusError('ServiceUnavailable', 'it cannot be built');
    calls.refuseAll(error);
    await clock.settle();
    assert.deepEqual(
      [all.map(({ result }) => result.error), calls.waiting, clock.pending],
      [[error, error], 0, 0],
    );
    assert.equal(calls.isIdle, false, 'they go on until their callers are told');
  });
  it('requests instances once, and is counted until it ends', () => {
    const { calls, begin, demandsOf } = world();
    const { call } = begin();
    assert.deepEqual([demandsOf(), calls.waiting, calls.isIdle, calls.demand().instances], [1, 1, false, 1]);
    call.end();
    call.end();
    assert.deepEqual([demandsOf(), calls.waiting, calls.isIdle], [1, 0, true]);
  });
  it('starts at once if an instance is free and no call waits', async () => {
    const { clock, calls, begin } = world();
    assert.equal(calls.hasRoom, false);
    calls.instances.set([pod('one')]);
    assert.equal(calls.hasRoom, true);
    const { call } = begin();
    await clock.settle();
    assert.equal(calls.hasRoom, false);
    begin();
    calls.instances.set([pod('one'), pod('two')]);
    assert.equal(calls.hasRoom, false, 'the one that waits is first');
    calls.dispatch();
    call.end();
    assert.equal(calls.hasRoom, true);
  });
  it('is sent to an instance like a new call, once the instance has accepted a call', async () => {
    const { clock, calls, begin } = world();
    calls.instances.set([pod('one')]);
    const { call, place } = begin();
    await clock.settle();
    for (const _ of [1, 2, 3]) {
      call.notTaken();
      void place();
      await clock.advance(1000);
    }
    const one = calls.instances.known('uid-one') ?? assert.fail();
    assert.equal(one.refusals, 3);
    call.taken();
    assert.equal(one.refusals, 0);
    call.notTaken();
    call.taken();
    assert.equal(one.refusals, 1, 'it has the call no more');
    assert.equal(one.notBefore, clock.monotonic() + 10);
  });
  it('releases one place if its instance rejects it twice', async () => {
    const { clock, calls, begin } = world();
    calls.instances.set([pod('one')]);
    const { call } = begin();
    await clock.settle();
    call.notTaken();
    call.notTaken();
    assert.equal(calls.instances.known('uid-one')?.underWay, 0);
  });
  it('of a function with a changed window uses the new window when no call is running', async () => {
    const { clock, calls, begin, of } = world({ metric: 'Requests', target: 1, windowSeconds: 30 });
    begin().call.end();
    begin().call.end();
    const wide = { ...of, spec: { ...of.spec, windowSeconds: 60 } };
    assert.equal(calls.demand().instances, 2);
    calls.update(wide);
    assert.deepEqual([calls.function, calls.demand().instances], [wide, 1]);
    const { call } = begin();
    calls.update(of);
    assert.deepEqual([calls.isIdle, calls.demand().instances], [false, 1]);
    call.end();
    assert.equal(calls.isIdle, true);
    await clock.advance(45_000);
    calls.update(of);
    assert.equal(calls.demand().instances, 1);
  });
  it('is measured over thirty seconds if the function names no window', async () => {
    const { clock, calls, begin } = world({ metric: 'Requests', target: 1, windowSeconds: undefined });
    for (const _ of [1, 2, 3]) begin().call.end();
    assert.equal(calls.demand().instances, 3);
    await clock.advance(30_000);
    assert.equal(calls.demand().instances, 3);
    // A step of the meter is a sixtieth of the window.
    await clock.advance(500);
    assert.equal(calls.demand().instances, 1);
  });
});

describe('a gateway', () => {
  function world(status?: object, over: object = {}) {
    const [cache, clock, log, page] = [
      new FakeCache(),
      new FakeClock(),
      new RecordingLogger(),
      new Registry(),
    ];
    const written: [string, string, number | null][] = [];
    const state = { fault: undefined as Error | undefined, hold: undefined as Promise<void> | undefined };
    const gateway = new Gateway({
      ...{ cache: cache as unknown as Cache, clock, log, master: 'here', page },
      writeDemand: async (namespace, name, instances) => {
        await state.hold;
        if (state.fault) throw state.fault;
        written.push([namespace, name, instances]);
      },
    });
    const first = fn(status, over);
    cache.put(first);
    const callsOf = (name = 'f') => gateway.callsOf('default', name);
    const code = (name?: string) => {
      try {
        callsOf(name);
        return 200;
      } catch (error) {
        assert.ok(error instanceof StatusError);
        return error.status.code;
      }
    };
    return { cache, clock, log, page, written, state, gateway, callsOf, code, first };
  }
  const failed = (message: string) => ({
    conditions: [{ type: 'Ready', status: 'False', reason: 'BuildFailed', message }],
  });

  it('calls no function that does not exist, is being deleted, or cannot be called', () => {
    assert.deepEqual([world().code(), world().code('g')], [200, 404]);
    assert.equal(world(undefined, { deletionTimestamp: at(1) }).code(), 404);
    const { code, cache } = world(failed('no'));
    assert.deepEqual([code(), cache.watches.size], [503, 0]);
  });
  it('has one queue of a function for all callers', () => {
    const { callsOf } = world();
    assert.equal(callsOf(), callsOf());
  });
  it('rejects waiting and later calls of a function whose build has failed', async () => {
    const { cache, clock, callsOf, code } = world({});
    const call = callsOf().begin();
    const refused = assert.rejects(call.place(), { message: 'function f cannot be called: it is broken' });
    cache.put({ ...fn(failed('it is broken')) });
    await refused;
    assert.equal(code(), 503);
    call.end();
    await clock.settle();
  });
  it('writes one demand at a time, and afterwards the newest', async () => {
    const { clock, state, written, callsOf } = world();
    const hold = Promise.withResolvers<void>();
    state.hold = hold.promise;
    const calls = [callsOf().begin(), callsOf().begin(), callsOf().begin()];
    await clock.settle();
    assert.deepEqual(written, []);
    hold.resolve();
    await clock.settle();
    assert.deepEqual(written, [
      ['default', 'f', 1],
      ['default', 'f', 3],
    ]);
    for (const call of calls) call.end();
  });
  it('logs a failed write with its reason, and retries it a second later', async () => {
    const { clock, state, written, callsOf, log } = world();
    state.fault = newStatusError('InternalError', 'the store is away');
    callsOf().begin();
    await clock.advance(999);
    const told = log.of('warn');
    assert.deepEqual(
      told.map(({ message, fields }) => [message, fields]),
      [
        [
          'the gateway cannot report how many instances a function needs',
          { function: 'default/f', error: 'the store is away' },
        ],
      ],
    );
    state.fault = new Error('connection reset');
    await clock.advance(1);
    assert.equal(log.of('warn')[1]?.fields.error, 'connection reset');
    state.fault = undefined;
    await clock.advance(1000);
    assert.deepEqual(written, [['default', 'f', 1]]);
  });
  it('continues with one function when another one is deleted', async () => {
    const { cache, clock, callsOf } = world();
    const other = { ...fn(), metadata: { ...fn().metadata, name: 'g', uid: 'uid-g' } } as Fn;
    cache.put(other);
    callsOf('g');
    const call = callsOf().begin();
    const placed = call.place();
    cache.remove(other);
    assert.equal(cache.watches.size, 2);
    cache.put(pod('p'));
    assert.equal((await placed).pod.metadata.name, 'p');
    call.end();
    await clock.settle();
  });
  it('stops reading a function that is deleted while its demand is written', async () => {
    const { cache, clock, state, callsOf, first } = world();
    const hold = Promise.withResolvers<void>();
    state.hold = hold.promise;
    callsOf();
    await clock.settle();
    cache.remove(first);
    hold.resolve();
    await clock.settle();
    assert.deepEqual([cache.watches.size, clock.pending], [0, 0]);
  });
  it('stops writing and watching when it is stopped', async () => {
    const { cache, clock, gateway, callsOf, written } = world();
    callsOf().begin();
    await clock.settle();
    gateway.stop();
    assert.deepEqual([cache.watches.size, clock.pending], [0, 0]);
    await clock.advance(120_000);
    assert.equal(written.length, 1);
  });
  it('returns every pod of a function by its uid, callable or not', () => {
    const { cache, gateway } = world();
    cache.put({ ...pod('p'), status: { phase: 'Failed' } } as never);
    const of = (namespace: string, name: string, uid: string) =>
      gateway.podOf(namespace, name, uid)?.metadata.name;
    assert.deepEqual(
      [
        of('default', 'f', 'uid-p'),
        of('default', 'f', 'uid-q'),
        of('default', 'g', 'uid-p'),
        of('other', 'f', 'uid-p'),
      ],
      ['p', undefined, undefined, undefined],
    );
    cache.put({ ...pod('bare'), metadata: { ...pod('bare').metadata, labels: undefined } } as never);
    assert.equal(of('default', 'undefined', 'uid-bare'), undefined);
  });
  it('counts the calls of existing functions, and drops the counts of a deleted function', async () => {
    const { cache, clock, callsOf, page, gateway, first } = world();
    const text = () => [...page.pieces()].join('');
    callsOf().begin();
    gateway.metrics.begin(callsOf())(200);
    await clock.settle();
    assert.match(text(), /minik8s_function_calls_waiting\{namespace="default",function="f"\} 0/);
    assert.match(text(), /minik8s_function_calls_total\{namespace="default",function="f",code="200"\} 1/);
    cache.put(fn({ activeVersion: 'v1' }, { uid: 'made-again' }));
    await clock.settle();
    assert.match(text(), /calls_total\{namespace="default",function="f",code="200"\} 1/, 'it was made again');
    assert.doesNotMatch(text(), /calls_waiting\{/);
    callsOf();
    cache.remove({ ...first, metadata: { ...first.metadata, uid: 'made-again' } } as Fn);
    await clock.settle();
    assert.doesNotMatch(text(), /function="f"/);
  });
  it('ignores functions and pods of other owners', async () => {
    const { cache, clock, callsOf, written } = world();
    const call = callsOf().begin();
    await clock.settle();
    cache.put({ ...pod('bare'), metadata: { ...pod('bare').metadata, labels: undefined } } as never);
    cache.put({ ...fn(), metadata: { ...fn().metadata, name: 'g', uid: 'uid-g' } } as never);
    cache.remove({ ...fn(), metadata: { ...fn().metadata, name: 'g', uid: 'uid-g' } } as never);
    await clock.settle();
    assert.deepEqual([written.length, callsOf().isIdle], [1, false]);
    call.end();
  });
});
