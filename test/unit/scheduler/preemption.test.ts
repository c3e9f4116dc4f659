/** Victims of preemption for each pod: decisions in tables. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Pod } from '../../../src/api/core/v1/pod/pod.ts';
import { podInfo } from '../../../src/scheduler/pod-info.ts';
import { at, container, node } from '../controllers/objects.ts';
import { decideWith, snapshotOf, wanting } from './pods.ts';
import { a, b, budget, type Given, on, remedyFor, sized, told, unstarted, urgent } from './preempting.ts';

const noVictims = 'none: No preemption victims found for incoming pod';
const never = 'none: not eligible due to preemptionPolicy=Never';
const onTheirWay = 'wait: not eligible due to a terminating pod on the nominated node';

describe('victims', () => {
  const table: [string, Pod, Given, unknown][] = [
    [
      'are as few as possible, with the lowest priorities',
      urgent('1'),
      { nodes: [a], bound: [on('a', 'x', '1', 10), on('a', 'y', '1', 5)] },
      ['a', ['y']],
    ],
    [
      'are the pods that started last, of equal priorities',
      urgent('1'),
      { nodes: [a], bound: [on('a', 'old', '1', 5), on('a', 'new', '1', 5, { started: 60 })] },
      ['a', ['new']],
    ],
    [
      'are all pods if the room of all is needed',
      urgent('2'),
      { nodes: [a], bound: [on('a', 'x', '1', 10), on('a', 'y', '1', 5)] },
      ['a', ['x', 'y']],
    ],
    [
      'are never of the same priority',
      urgent('1'),
      { nodes: [a], bound: [on('a', 'x', '2', 100)] },
      undefined,
    ],
    [
      'are none on a node that does not suit the pod even without them',
      urgent('1', { nodeSelector: { zone: 'z' } }),
      { nodes: [a], bound: [on('a', 'x', '2', 1)] },
      undefined,
    ],
    [
      'are none if the remaining pods leave too little',
      urgent('2'),
      { nodes: [a], bound: [on('a', 'x', '1', 200), on('a', 'y', '1', 1)] },
      noVictims,
    ],
    [
      'are none if the pods of the same priority leave too little',
      urgent('2'),
      { nodes: [a], bound: [on('a', 'x', '1', 100), on('a', 'y', '1', 1)] },
      noVictims,
    ],
    [
      'are none if a remaining pod has the host port',
      urgent('0', {
        containers: [container({ ports: [{ containerPort: 1, hostPort: 80, protocol: 'TCP' }] })],
      }),
      {
        nodes: [a],
        bound: [
          on('a', 'x', '100m', 200, {
            containers: [container({ ports: [{ containerPort: 1, hostPort: 80, protocol: 'TCP' }] })],
          }),
          on('a', 'y', '100m', 1),
        ],
      },
      noVictims,
    ],
    [
      'are none if the pod of lower priority is on a node that does not suit',
      urgent('2', { nodeSelector: { zone: 'z' } }),
      {
        nodes: [a, node('z', { labels: { zone: 'z' }, allocatable: { cpu: '2' } })],
        bound: [on('a', 'x', '2', 1), on('z', 'y', '2', 100)],
      },
      undefined,
    ],
    [
      'are the pods that have not started, of equal priorities',
      urgent('1'),
      { nodes: [a], bound: [on('a', 'new', '1', 5), unstarted(on('a', 'unstarted', '1', 5))] },
      ['a', ['unstarted']],
    ],
    [
      'are all needed pods, by priority, although a budget protects one of them',
      urgent('2'),
      {
        nodes: [a],
        bound: [on('a', 'guarded', '1', 1), on('a', 'other', '1', 50)],
        budgets: [budget('guarded', 0)],
      },
      ['a', ['other', 'guarded']],
    ],
    [
      'are none for a pod with preemptionPolicy Never',
      urgent('1', { preemptionPolicy: 'Never' }),
      { nodes: [a], bound: [on('a', 'x', '2', 1)] },
      never,
    ],
    [
      'are the pods with the requested host port',
      urgent('0', {
        containers: [container({ ports: [{ containerPort: 1, hostPort: 80, protocol: 'TCP' }] })],
      }),
      {
        nodes: [a],
        bound: [
          on('a', 'x', '100m', 1, {
            containers: [container({ ports: [{ containerPort: 1, hostPort: 80, protocol: 'TCP' }] })],
          }),
          on('a', 'y', '100m', 1),
        ],
      },
      ['a', ['x']],
    ],
  ];
  for (const [what, one, given, expected] of table)
    it(what, () => assert.deepEqual(told(remedyFor(one, given)), expected));

  it('are the pods whose anti-affinity rejects the pod', () => {
    const labelSelector = { matchLabels: { app: 'web' } };
    const affinity = {
      podAntiAffinity: {
        requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey: 'host', labelSelector }],
      },
    };
    const host = { ...a, metadata: { ...a.metadata, labels: { host: 'a' } } };
    const given = { nodes: [host], bound: [on('a', 'x', '100m', 1, { affinity }), on('a', 'y', '100m', 1)] };
    assert.deepEqual(told(remedyFor(urgent('1'), given)), ['a', ['x']]);
  });

  it('are all pods whose anti-affinity rejects the pod, by different topologies', () => {
    const repelling = (topologyKey: string) => ({
      affinity: {
        podAntiAffinity: {
          requiredDuringSchedulingIgnoredDuringExecution: [
            { topologyKey, labelSelector: { matchLabels: { app: 'web' } } },
          ],
        },
      },
    });
    const placed = { ...a, metadata: { ...a.metadata, labels: { host: 'a', zone: 'z' } } };
    const bound = [on('a', 'x', '100m', 2, repelling('host')), on('a', 'y', '100m', 1, repelling('zone'))];
    assert.deepEqual(told(remedyFor(urgent('1'), { nodes: [placed], bound })), ['a', ['x', 'y']]);
  });

  it('make the pod the first of its group, if its affinity requires its own group', () => {
    const affinity = {
      podAffinity: {
        requiredDuringSchedulingIgnoredDuringExecution: [
          { topologyKey: 'host', labelSelector: { matchLabels: { app: 'web' } } },
        ],
      },
    };
    const placed = (name: string, cpu: string) => ({
      ...sized(name, cpu),
      metadata: { ...sized(name, cpu).metadata, labels: { host: name } },
    });
    const like = on('a', 'like', '1', 1, { labels: { app: 'web' } });
    // The pod must be near `like` on a, which leaves no room beside it there; b would be possible without
    // `like`.
    const given = { nodes: [placed('a', '1'), placed('b', '1')], bound: [like, on('b', 'y', '1', 200)] };
    assert.deepEqual(told(remedyFor(urgent('1', { affinity }), given)), ['a', ['like']]);
  });
});

describe('a pod whose victims are terminating', () => {
  const leaving = (one: Pod, over: { reason?: string; status?: 'False' } = {}): Pod => ({
    ...one,
    metadata: { ...one.metadata, deletionTimestamp: at(0) },
    status: {
      ...one.status,
      conditions: [{ type: 'DisruptionTarget', status: 'True', reason: 'PreemptionByScheduler', ...over }],
    },
  });
  it('waits for them', () => {
    const bound = [leaving(on('a', 'x', '2', 1)), on('b', 'y', '2', 1)];
    assert.equal(told(remedyFor(urgent('2'), { nodes: [a, b], bound, nominated: 'a' })), onTheirWay);
  });
  const others: [string, Pod][] = [
    ['a terminating pod has no lower priority', leaving(on('a', 'x', '2', 100))],
    [
      'a pod terminates for another reason',
      leaving(on('a', 'x', '2', 1), { reason: 'EvictionByEvictionAPI' }),
    ],
    ['a pod terminates whose preemption was revoked', leaving(on('a', 'x', '2', 1), { status: 'False' })],
    [
      'a preempted pod is not terminating yet',
      { ...leaving(on('a', 'x', '2', 1)), metadata: on('a', 'x', '2', 1).metadata },
    ],
  ];
  for (const [what, one] of others)
    it(`takes other victims if ${what}`, () => {
      const bound = [one, on('b', 'y', '2', 0)];
      assert.deepEqual(told(remedyFor(urgent('2'), { nodes: [a, b], bound, nominated: 'a' })), ['b', ['y']]);
    });
  it('takes other victims when its node is no longer suitable', () => {
    const bound = [leaving(on('a', 'x', '2', 1)), on('b', 'y', '2', 1)];
    const gone = { ...a, spec: { ...a.spec, unschedulable: true } };
    assert.deepEqual(told(remedyFor(urgent('2'), { nodes: [gone, b], bound, nominated: 'a' })), ['b', ['y']]);
  });
  it('takes other victims when its node is deleted', () => {
    assert.deepEqual(
      told(remedyFor(urgent('2'), { nodes: [b], bound: [on('b', 'y', '2', 1)], nominated: 'a' })),
      ['b', ['y']],
    );
  });
});

describe('room that is reserved for a pod', () => {
  const snapshot = () => {
    const made = snapshotOf([a, b], [on('b', 'y', '2', 500)]);
    made.nominate(podInfo(urgent('2')), 'a');
    return made;
  };
  const other = (priority: number) => wanting('other', { cpu: '1' }, { priority });
  it('is not available to pods of the same or a lower priority', () => {
    for (const priority of [1, 100])
      assert.equal(decideWith(other(priority), snapshot()).kind, 'unschedulable');
  });
  it('is available to pods of a higher priority and to the nominated pod', () => {
    assert.equal(decideWith(other(101), snapshot()).kind, 'node');
    assert.equal(decideWith(urgent('2'), snapshot(), { nominated: 'a' }).kind, 'node');
  });
});
