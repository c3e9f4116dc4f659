import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Pod } from '../../../../../src/api/core/v1/pod/pod.ts';
import type { Fn } from '../../../../../src/features/functions/api/function.ts';
import { functionVersionLabel } from '../../../../../src/features/functions/api/function-instance.ts';
import {
  FunctionCalls,
  maxWait,
  maxWaiting,
} from '../../../../../src/features/functions/server/function-calls.ts';
import { callPath } from '../../../../../src/features/functions/server/gateway-app.ts';
import { isCallable } from '../../../../../src/features/functions/server/instances.ts';
import { FakeClock } from '../../../../fixtures/fake-clock.ts';
import { pod } from '../../../controllers/objects.ts';

const spec = {
  concurrency: 2,
  target: 1,
  maxScale: 10,
  windowSeconds: 30,
  idleSeconds: 60,
  metric: 'Concurrency',
};

function world() {
  const clock = new FakeClock();
  const calls = new FunctionCalls({ metadata: { name: 'f' }, spec } as unknown as Fn, {
    clock,
    onDemand: () => undefined,
  });
  const taken: string[] = [];
  /** Begins a call and records its place as `NAME@POD`. */
  const call = (name: string) => {
    const one = calls.begin();
    const place = () =>
      one.place().then(
        (instance) => void taken.push(`${name}@${instance.pod.metadata.name}`),
        (error: Error) => void taken.push(`${name}: ${error.message}`),
      );
    void place();
    return { ...one, again: place };
  };
  return { clock, calls, taken, call };
}

describe('calls', () => {
  it('wait for an instance, and get it in the order of their arrival', async () => {
    const { clock, calls, taken, call } = world();
    for (const name of ['a', 'b', 'c']) call(name);
    await clock.settle();
    assert.deepEqual(taken, []);
    calls.instances.set([pod('one')]);
    calls.dispatch();
    await clock.settle();
    assert.deepEqual(taken, ['a@one', 'b@one']);
  });
  it('precede waiting calls if an instance has rejected them, and have no timer once they have a place', async () => {
    const { clock, calls, taken, call } = world();
    calls.instances.set([pod('one')]);
    const [a, b] = [call('a'), call('b')];
    for (const name of ['c', 'd']) call(name);
    await clock.settle();
    a.notTaken();
    void a.again();
    b.end();
    await clock.advance(1000);
    assert.deepEqual(taken, ['a@one', 'b@one', 'a@one', 'c@one']);
    assert.equal(clock.pending, 1, 'one waits');
  });
  it('are sent to the instance with the fewest calls, and to none at its limit', async () => {
    const { clock, calls, taken, call } = world();
    calls.instances.set([pod('one'), pod('two')]);
    for (const name of ['a', 'b', 'c', 'd', 'e']) call(name);
    await clock.settle();
    assert.deepEqual(taken.map((line) => line.slice(2)).toSorted(), ['one', 'one', 'two', 'two']);
  });
  it('release their place when they end', async () => {
    const { clock, calls, taken, call } = world();
    calls.instances.set([pod('one')]);
    const [a] = [call('a'), call('b'), call('c')];
    await clock.settle();
    a.end();
    a.end();
    await clock.settle();
    assert.deepEqual(taken, ['a@one', 'b@one', 'c@one']);
    call('d');
    await clock.settle();
    assert.equal(taken.length, 3);
  });
  it('are first in line after a refusal, for another instance', async () => {
    const { clock, calls, taken, call } = world();
    calls.instances.set([pod('one')]);
    const [a] = [call('a'), call('b'), call('c')];
    await clock.settle();
    calls.instances.set([pod('one'), pod('two')]);
    a.notTaken();
    void a.again();
    await clock.settle();
    assert.deepEqual(taken.toSorted(), ['a@one', 'a@two', 'b@one', 'c@two']);
  });
  it('are sent again to an instance that has rejected them, after a growing pause', async () => {
    const { clock, calls, taken, call } = world();
    calls.instances.set([pod('one')]);
    const a = call('a');
    await clock.settle();
    for (const ms of [10, 15, 22.5]) {
      a.notTaken();
      void a.again();
      const before = taken.length;
      await clock.advance(ms - 1);
      assert.equal(taken.length, before);
      await clock.advance(1);
      assert.equal(taken.length, before + 1);
    }
  });
  it('wait for the instance that may be tried first', async () => {
    const { clock, calls, taken, call } = world();
    calls.instances.set([pod('one'), pod('two')]);
    const [one, two] = ['one', 'two'].map((name) => calls.instances.known(pod(name).metadata.uid));
    Object.assign(one ?? {}, { notBefore: 500 });
    Object.assign(two ?? {}, { notBefore: 20 });
    call('a');
    await clock.advance(19);
    assert.deepEqual(taken, []);
    await clock.advance(1);
    assert.deepEqual(taken, ['a@two']);
  });
  it('are idle since the end of the last call, even if the function has changed in between', async () => {
    const { clock, calls, call } = world();
    call('a').end();
    await clock.advance(50_000);
    calls.update({ metadata: { name: 'f' }, spec: { ...spec, maxScale: 5 } } as unknown as Fn);
    assert.equal(calls.demand().instances, 1);
    await clock.advance(10_000);
    assert.equal(calls.demand().instances, 0);
  });
  it('do not get a place if their caller has disconnected', async () => {
    const { clock, calls, taken, call } = world();
    const [a, b] = [call('a'), call('b')];
    a.end();
    calls.instances.set([pod('one')]);
    calls.dispatch();
    await clock.settle();
    assert.deepEqual(taken, ['a: the call is over', 'b@one']);
    await a.again();
    b.end();
    await clock.settle();
    assert.deepEqual(taken.slice(2), ['a: the call is over']);
    assert.equal(calls.instances.choose(1, 0)?.underWay, 0);
  });
  it('are rejected if they wait too long', async () => {
    const { clock, taken, call } = world();
    call('a');
    await clock.advance(maxWait);
    assert.deepEqual(taken, ['a: no instance of the function was free within 60 s']);
  });
  it('are rejected when too many wait', () => {
    const { calls, call } = world();
    for (let i = 0; i < maxWaiting; i++) call('a');
    assert.throws(() => calls.begin(), /1000 calls of the function wait already/);
  });
});

it('keep the state of an instance when its pod changes', async () => {
  const { clock, calls, taken, call } = world();
  calls.instances.set([pod('one')]);
  call('a');
  call('b');
  calls.instances.set([pod('one', { ip: '10.0.0.9' })]);
  call('c');
  await clock.settle();
  assert.equal(taken.length, 2);
});

describe('isCallable', () => {
  const running = (over: Partial<Pod['status']> = {}, metadata = {}) => {
    const one = pod('a', {
      ip: '10.0.0.1',
      metadata: { labels: { [functionVersionLabel]: 'v1' }, ...metadata },
    });
    one.status = {
      ...one.status,
      containerStatuses: [{ name: 'function', state: { running: {} } }],
      ...over,
    } as Pod['status'];
    return one;
  };
  const unready = (started: boolean) =>
    running({
      conditions: [{ type: 'Ready', status: 'False' }],
      containerStatuses: [{ name: 'function', started, state: { running: {} } }],
    } as Partial<Pod['status']>);
  it('is true if the instance runs', () => assert.equal(isCallable(running(), 'v1'), true));
  it('is true if the instance is starting', () => assert.equal(isCallable(unready(false), 'v1'), true));
  for (const [why, one] of [
    ['another version', running({}, { labels: { [functionVersionLabel]: 'v2' } })],
    ['if the instance is being deleted', running({}, { deletionTimestamp: '2026-01-01T00:00:00Z' })],
    ['if the pod has no IP', running({ podIP: '' })],
    ['if the list of addresses is empty', running({ podIP: undefined })],
    ['if the address is invalid', running({ podIP: 'localhost' })],
    ['if the program does not run', running({ containerStatuses: [] })],
    ['if the instance has ended', running({ phase: 'Failed' })],
    ['if the node was deleted', unready(true)],
  ] as const)
    it(`is false ${why}`, () => assert.equal(isCallable(one, 'v1'), false));
  it('no instance is callable while no version is called', () =>
    assert.equal(isCallable(running(), undefined), false));
});

describe('callPath', () => {
  const of = (namespace: string, name: string, rest = '') =>
    `/apis/minik8s.io/v1/namespaces/${namespace}/functions/${name}/invoke${rest}`;
  for (const [path, expected] of [
    ['/function/hello', of('default', 'hello')],
    ['/function/hello/', of('default', 'hello')],
    ['/function/shop/pay', of('shop', 'pay')],
    ['/function/shop/pay/', of('shop', 'pay', '/')],
    ['/function/shop/pay/a/b', of('shop', 'pay', '/a/b')],
    ['/function/shop/a%2Fb', of('shop', 'a%2Fb')],
    ['/function/', undefined],
    ['/function', undefined],
    ['/', undefined],
    ['/api/v1/pods', undefined],
  ] as const)
    it(path, () => assert.equal(callPath(path), expected));
});
