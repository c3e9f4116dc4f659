/** Instance to which a call is assigned, and the retry at an instance that has rejected a call. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Pod } from '../../../../../src/api/core/v1/pod/pod.ts';
import { whyNotCallable } from '../../../../../src/features/functions/server/gateway.ts';
import { InstanceConnections } from '../../../../../src/features/functions/server/instance-connections.ts';
import { Instances, isCallable, refused } from '../../../../../src/features/functions/server/instances.ts';
import { LoadMeter } from '../../../../../src/features/functions/server/load-meter.ts';
import { fn, pod } from './function-cache.ts';

const instancesOf = (...names: string[]) => {
  const instances = new Instances();
  instances.set(names.map((name) => pod(name)));
  const one = (name: string) => instances.known(`uid-${name}`) ?? assert.fail(name);
  return { instances, one };
};

describe('the instances of a function', () => {
  it('are the existing instances, of which those with calls are busy', () => {
    const { instances, one } = instancesOf('a', 'b', 'c');
    Object.assign(one('b'), { underWay: 2 });
    assert.deepEqual([instances.size, instances.busy], [3, 1]);
    instances.set([pod('b'), pod('d')]);
    assert.deepEqual([instances.size, instances.busy, one('b').underWay, one('d').underWay], [2, 1, 2, 0]);
    assert.equal(instances.known('uid-a'), undefined);
  });
  it('are chosen by their calls, the fewest first and the first among equals, without full ones and ones in a pause', () => {
    const { instances, one } = instancesOf('a', 'b', 'c');
    const chosen = (concurrency: number, now = 0) => instances.choose(concurrency, now)?.pod.metadata.name;
    assert.equal(chosen(2), 'a');
    Object.assign(one('a'), { underWay: 1 });
    assert.equal(chosen(2), 'b');
    Object.assign(one('b'), { underWay: 1, notBefore: 10 });
    Object.assign(one('c'), { underWay: 2 });
    assert.deepEqual([chosen(2), chosen(1), chosen(3)], ['a', undefined, 'a']);
    Object.assign(one('a'), { underWay: 2 });
    assert.deepEqual([chosen(2, 9), chosen(2, 10)], [undefined, 'b']);
  });
  it('are awaited until the first with room may be tried', () => {
    const { instances, one } = instancesOf('a', 'b', 'c');
    Object.assign(one('a'), { notBefore: 100 });
    Object.assign(one('b'), { notBefore: 60 });
    Object.assign(one('c'), { notBefore: 20, underWay: 1 });
    assert.deepEqual([instances.next(1, 10), instances.next(2, 10), instances.next(1, 70)], [50, 10, 0]);
    Object.assign(one('a'), { underWay: 1 });
    Object.assign(one('b'), { underWay: 1 });
    assert.equal(instances.next(1, 10), undefined);
    assert.equal(new Instances().next(1, 0), undefined);
  });
  it('are not called for 10 ms after a refusal, 1.5 times as long after each further one, and at most for half a second', () => {
    const { one } = instancesOf('a');
    const pauses = Array.from({ length: 12 }, () => {
      refused(one('a'), 1000);
      return one('a').notBefore - 1000;
    });
    const wanted = Array.from({ length: 12 }, (_, i) => Math.min(500, 10 * 1.5 ** i));
    assert.deepEqual(pauses, wanted);
    assert.deepEqual([pauses.at(-3), pauses.at(-1)], [384.43359375, 500]);
  });
});

describe('an instance', () => {
  it('is called while a container of it runs, with its version and an address', () => {
    const running = { state: { running: {} } };
    const is = (status: object, version = 'v1') =>
      isCallable({ ...pod('p'), status: { ...pod('p').status, ...status } } as Pod, version);
    assert.deepEqual(
      [
        is({}),
        is({ containerStatuses: [{ state: { terminated: {} } }, running] }),
        is({ containerStatuses: [{ state: { waiting: {} } }] }),
        is({ containerStatuses: [] }),
        is({ containerStatuses: undefined }),
        is({}, 'v2'),
        is({ podIP: undefined }),
        is({ phase: 'Failed' }),
      ],
      [true, true, false, false, false, false, false, false],
    );
  });
  it('is reached if a connection to it can be opened, and the trial connection is closed', async () => {
    const { one } = instancesOf('a', 'b');
    let closed = 0;
    const connections = new InstanceConnections(async ({ metadata }) => {
      if (metadata.name === 'b') throw new Error('connection refused');
      return { destroy: () => void closed++ } as never;
    });
    assert.deepEqual(
      [await connections.reaches(one('a')), await connections.reaches(one('b'))],
      [true, false],
    );
    assert.equal(closed, 1);
  });
  it('keeps its connections until its address changes', () => {
    const connections = new InstanceConnections(() => assert.fail('nothing is dialed'));
    const { one } = instancesOf('a', 'b');
    const addressed = (ip?: string) => {
      Object.assign(one('a'), { pod: { ...pod('a'), status: ip === undefined ? undefined : { podIP: ip } } });
      return connections.agentOf(one('a'));
    };
    const first = addressed('10.0.0.1');
    assert.equal(addressed('10.0.0.1'), first);
    assert.notEqual(connections.agentOf(one('b')), first);
    const none = addressed();
    assert.notEqual(none, first);
    assert.equal(addressed(), none);
    const { options } = first as unknown as { options: Record<string, unknown> };
    const { keepAlive, timeout, scheduling } = options;
    assert.deepEqual([keepAlive, timeout, scheduling, first.maxFreeSockets], [true, 4000, 'lifo', 1000]);
  });
});

describe('a function cannot be called', () => {
  const of = (status: object | undefined) => whyNotCallable({ ...fn(), status } as never)?.status;
  const ready = (status: string, reason = 'BuildFailed') => ({
    conditions: [
      { type: 'Other', status: 'False', reason: 'Other', message: 'other' },
      { type: 'Ready', status, reason, message: 'its image cannot be built' },
    ],
  });
  it('if no version was ever ready and the latest has failed, which is answered for a second', () => {
    const status = of(ready('False'));
    assert.deepEqual(
      [status?.code, status?.message, status?.details?.retryAfterSeconds],
      [503, 'function f cannot be called: its image cannot be built', 1],
    );
  });
  for (const [what, status] of [
    ['a version was ready', { activeVersion: 'v1', ...ready('False') }],
    ['it is starting', ready('False', 'Starting')],
    ['it is ready', ready('True')],
    ['its condition Ready is Unknown', ready('Unknown')],
    ['it has no condition Ready', {}],
    ['it has no status', undefined],
    ['only another condition is False', { conditions: ready('False').conditions.slice(0, 1) }],
  ] as const)
    it(`except if ${what}`, () => assert.equal(of(status), undefined));
});

describe('the load of a function', () => {
  it('is the average over the requested time, to a fraction of a step', () => {
    const meter = new LoadMeter(60_000, 0);
    meter.begin(0);
    meter.begin(500);
    meter.end(1250);
    meter.end(2000);
    // One call for two seconds, and one for three quarters of one.
    assert.equal(meter.average(2000, 2000), 1.375);
    assert.equal(meter.average(1000, 2000), 1.25);
    assert.equal(meter.average(4000, 4000), 0.6875);
    assert.equal(meter.average(2000, 3000), 0.625);
    assert.equal(meter.average(2000, 4000), 0);
  });
  it('is a number at the very beginning of a step', () => {
    const meter = new LoadMeter(60_000, 0);
    meter.begin(0);
    meter.begin(1000);
    assert.equal(meter.average(1000, 1000), 1);
    assert.equal(meter.average(1000, 2000), 2);
  });
  it('counts long calls in each step', () => {
    const meter = new LoadMeter(60_000, 0);
    meter.begin(0);
    assert.equal(meter.average(40_000, 60_000), 1);
    assert.equal(meter.average(40_000, 600_000), 1);
    meter.end(600_000);
    assert.equal(meter.average(40_000, 620_000), 0.5);
  });
  it('includes calls in progress and calls that began within the window', () => {
    const meter = new LoadMeter(60_000, 0);
    for (const at of [0, 10_000, 59_000]) meter.begin(at);
    assert.deepEqual([meter.underWay, meter.begun(59_999), meter.begun(60_000)], [3, 3, 3]);
    assert.deepEqual([meter.begun(60_250), meter.begun(61_000)], [2.75, 2]);
    meter.end(61_000);
    assert.deepEqual(
      [meter.underWay, meter.begun(70_000), meter.begun(71_000), meter.begun(119_000), meter.begun(120_000)],
      [2, 2, 1, 1, 0],
    );
  });
  it('counts all calls of a window that begins within a step', () => {
    const meter = new LoadMeter(60_000, 0);
    for (let at = 0; at < 120_000; at += 100) meter.begin(at);
    // Ten calls a second, for a window of 60 s, which has a part of each of 61 steps.
    assert.deepEqual([meter.begun(120_000), meter.begun(120_500)], [600, 595]);
  });
  it('is averaged over a whole window that begins within a step', () => {
    const meter = new LoadMeter(60_000, 0);
    meter.begin(0);
    assert.equal(meter.average(60_000, 60_500), 1);
    assert.equal(meter.average(60_000, 120_250), 1);
  });
  it('is exact to the millisecond', () => {
    const meter = new LoadMeter(60_000, 0);
    assert.equal(meter.most(0, 0), 0);
    meter.begin(0);
    assert.equal(meter.average(1, 1), 1);
    assert.equal(meter.average(1, 5), 1);
  });
  it('includes the maximum demand within the window', () => {
    const meter = new LoadMeter(60_000, 0);
    assert.deepEqual(
      [meter.most(3, 0), meter.most(5, 500), meter.most(2, 900), meter.most(4, 30_000)],
      [3, 5, 5, 5],
    );
    assert.deepEqual([meter.most(1, 60_500), meter.most(1, 61_000), meter.most(1, 90_000)], [5, 4, 4]);
    assert.equal(meter.most(1, 91_000), 1);
  });
  it('is idle since its last call began or ended', () => {
    const meter = new LoadMeter(60_000, 1000);
    assert.equal(meter.idleFor(1500), 500);
    meter.begin(2000);
    meter.begin(3000);
    meter.end(4000);
    assert.equal(meter.idleFor(9000), 0);
    meter.end(10_000);
    assert.deepEqual([meter.idleFor(10_000), meter.idleFor(10_250)], [0, 250]);
  });
});
