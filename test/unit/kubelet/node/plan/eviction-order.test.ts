/** Pods that a node evicts first when it is short of a resource, and the messages about them. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Pod } from '../../../../../src/api/core/v1/pod/pod.ts';
import {
  type EvictionCandidate,
  evictable,
  evictionOf,
  evictionOrder,
} from '../../../../../src/kubelet/node/plan/eviction-order.ts';
import type { Shortage } from '../../../../../src/kubelet/node/plan/eviction-thresholds.ts';
import { makePod } from '../../builders.ts';

const Mi = 2 ** 20;

function podOf(name: string, requests: Record<string, string> = {}, more: object = {}, status?: object) {
  const containers = [{ name: 'main', image: 'app:1', resources: { requests } }];
  return makePod({ containers, ...more }, { name, uid: name }, status);
}
const shortage: Shortage = {
  pressure: 'MemoryPressure',
  signal: 'memory.available',
  resource: 'memory',
  threshold: 100 * Mi,
  available: 80 * Mi,
};
/** Usage of each container, in mebibytes; undefined when it is unknown. */
const using = (pod: Pod, used?: Readonly<Record<string, number>>): EvictionCandidate => ({
  pod,
  usage: used && new Map(Object.entries(used).map(([name, mebibytes]) => [name, mebibytes * Mi])),
});
const asks = (mebibytes: number) => ({ memory: `${mebibytes}Mi` });

describe('the pod that is evicted first', () => {
  const important = { priority: 1000 };
  const rows: readonly [why: string, first: EvictionCandidate, second: EvictionCandidate][] = [
    ['the pod of unknown usage', using(podOf('a', asks(900), important)), using(podOf('b'), { main: 900 })],
    [
      'the pod above its request, whatever its priority',
      using(podOf('a', asks(100), important), { main: 101 }),
      using(podOf('b', asks(900)), { main: 900 }),
    ],
    [
      'a pod without requests that uses a little',
      using(podOf('a', {}, important), { main: 1 / Mi }),
      using(podOf('b', asks(900)), { main: 900 }),
    ],
    [
      'the pod with the lower priority, of two above their requests',
      using(podOf('a', asks(100)), { main: 101 }),
      using(podOf('b', {}, important), { main: 900 }),
    ],
    [
      'the pod with the lower priority, of two within their requests',
      using(podOf('a', asks(900)), { main: 1 }),
      using(podOf('b', asks(900), important), { main: 900 }),
    ],
    [
      'the pod furthest above its request, of equal priorities',
      using(podOf('a', asks(100)), { main: 300 }),
      using(podOf('b'), { main: 199 }),
    ],
    [
      'the pod closest to its request, of equal priorities',
      using(podOf('a', asks(100)), { main: 90 }),
      using(podOf('b', asks(900)), { main: 800 }),
    ],
    [
      'the pod whose containers use the most in total',
      using(podOf('a'), { main: 50, side: 60 }),
      using(podOf('b'), { main: 100 }),
    ],
    ['the pod without requests, of two without usage', using(podOf('a'), {}), using(podOf('b', asks(1)), {})],
  ];
  for (const [why, first, second] of rows) {
    it(`is ${why}`, () => {
      for (const given of [
        [first, second],
        [second, first],
      ]) {
        assert.deepEqual(evictionOrder(given, shortage), [first, second]);
      }
    });
  }

  it('depends on the resource that the node lacks', () => {
    const disk = using(podOf('disk', { memory: '900Mi' }), { main: 300 });
    const memory = using(podOf('memory', { 'ephemeral-storage': '900Mi' }), { main: 400 });
    assert.deepEqual(evictionOrder([disk, memory], { resource: 'memory' }), [memory, disk]);
    assert.deepEqual(evictionOrder([disk, memory], { resource: 'ephemeral-storage' }), [disk, memory]);
  });

  it('is the first of all of them', () => {
    const order = evictionOrder(
      [
        using(podOf('within', asks(1024)), { main: 900 }),
        using(podOf('beyond', asks(100)), { main: 300 }),
        using(podOf('best-effort-small'), { main: 50 }),
        using(podOf('best-effort-large'), { main: 250 }),
        using(podOf('important', {}, important), { main: 700 }),
        using(podOf('unknown', asks(1024))),
      ],
      shortage,
    );
    assert.deepEqual(
      order.map(({ pod }) => pod.metadata.name),
      ['unknown', 'best-effort-large', 'beyond', 'best-effort-small', 'important', 'within'],
    );
  });
});

describe('a pod', () => {
  const condition = (type: string, status: string) => ({ type, status });
  const deleted = podOf('deleted');
  const rows: readonly [what: string, pod: Pod, may: boolean][] = [
    ['like any other', podOf('plain'), true],
    ['that runs', podOf('a', {}, {}, { phase: 'Running' }), true],
    ['that has failed', podOf('a', {}, {}, { phase: 'Failed' }), false],
    ['that has succeeded', podOf('a', {}, {}, { phase: 'Succeeded' }), false],
    [
      'with the condition DisruptionTarget',
      podOf('a', {}, {}, { conditions: [condition('Ready', 'True'), condition('DisruptionTarget', 'True')] }),
      false,
    ],
    [
      'whose condition DisruptionTarget is False',
      podOf(
        'a',
        {},
        {},
        { conditions: [condition('Ready', 'True'), condition('DisruptionTarget', 'False')] },
      ),
      true,
    ],
    ['with a priority just below system pods', podOf('a', {}, { priority: 1_999_999_999 }), true],
    ['of the system', podOf('a', {}, { priority: 2_000_000_000 }), false],
    ['of the cluster', podOf('a', {}, { priorityClassName: 'system-cluster-critical' }), false],
    [
      'that is deleted',
      { ...deleted, metadata: { ...deleted.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' } },
      false,
    ],
  ];
  for (const [what, pod, may] of rows) {
    it(`${what} may ${may ? '' : 'not '}be evicted`, () =>
      assert.deepEqual(evictable([pod]), may ? [pod] : []));
  }
});

describe('an eviction', () => {
  const intro = 'The node was low on resource: memory. Threshold quantity: 100Mi, available: 80Mi.';
  const beyond = (name: string, used: string, request: string) =>
    ` Container ${name} was using ${used}, request is ${request}, has larger consumption of memory.`;

  it("has upstream's message, without a time", () => {
    assert.deepEqual(evictionOf(using(podOf('web', asks(100)), { main: 300 }), shortage), {
      reason: 'Evicted',
      message: intro + beyond('main', '300Mi', '100Mi'),
      gracePeriodSeconds: 0,
      signal: 'memory.available',
      disruption: true,
    });
  });

  it('names only the containers that use more than their requests', () => {
    const container = (name: string, requests?: object, limits?: object) => ({
      name,
      image: 'a',
      resources: { ...(requests && { requests }), ...(limits && { limits }) },
    });
    const pod = makePod({
      // Requests of init containers count for no container.
      initContainers: [container('init', { memory: '1Gi' })],
      containers: [
        container('within', asks(100)),
        container('beyond', asks(100)),
        container('unknown', asks(100)),
        container('free'),
      ],
    });
    const used = { within: 100, beyond: 101, free: 7 };
    assert.equal(
      evictionOf(using(pod, used), shortage).message,
      intro + beyond('beyond', '101Mi', '100Mi') + beyond('free', '7Mi', '0'),
    );
    assert.equal(evictionOf(using(pod), shortage).message, intro);
  });

  it('compares the usage of a resource that pods cannot request', () => {
    const inodes: Shortage = { ...shortage, resource: 'inodes', threshold: 50, available: 3 };
    assert.equal(
      evictionOf({ pod: podOf('a'), usage: new Map([['main', 1]]) }, inodes).message,
      'The node was low on resource: inodes. Threshold quantity: 50, available: 3. Container main was using 1, request is 0, has larger consumption of inodes.',
    );
  });
});
