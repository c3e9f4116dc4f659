import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Pod } from '../../../../src/api/core/v1/pod/pod.ts';
import {
  type Question,
  replicasByAverage,
  replicasByUtilization,
  requestOf,
} from '../../../../src/controllers/autoscaling/replicas-plan.ts';
import { at, container, pod, start } from '../objects.ts';

const minute = 60_000;
const now = start + 60 * minute;
const request = { resources: { requests: { cpu: '1', memory: '1Gi' } } };
/** Pod that has been ready for an hour and requests one CPU. */
const old = (name: string): Pod => {
  const one = pod(name, { readyAt: 0, spec: { containers: [container(request)] } });
  return { ...one, status: { ...one.status, startTime: at(0) } };
};
const pods = (count: number) => Array.from({ length: count }, (_, index) => old(`p${index}`));
const use = (value: number, over: object = {}) => ({ value, at: now, windowMs: 10_000, ...over });
const ask = (
  all: readonly Pod[],
  values: readonly (number | undefined)[],
  over: Partial<Question> = {},
): Question => ({
  sample: {
    pods: all,
    uses: new Map(
      all.flatMap(({ metadata }, index) => {
        const value = values[index];
        return value === undefined ? [] : [[metadata.name, use(value)] as const];
      }),
    ),
  },
  isCpu: true,
  currentReplicas: all.length,
  tolerance: { up: 0.1, down: 0.1 },
  now,
  ...over,
});
const cpu = (one: Pod) => requestOf(one, 'cpu', undefined);
const failed = (one: Pod): Pod => ({ ...one, status: { ...one.status, phase: 'Failed' } });
const unready = (one: Pod, seconds: number): Pod => {
  const startTime = at(60 * 60 - seconds);
  const conditions = [{ type: 'Ready', status: 'False' as const, lastTransitionTime: startTime }];
  return { ...one, status: { ...one.status, startTime, conditions } };
};

describe('the replicas for a utilization of the requests', () => {
  const table: [string, Question, number, number, number][] = [
    ['are more if the usage is above the target', ask(pods(3), [300, 500, 700]), 30, 5, 50],
    ['are fewer if the usage is below the target', ask(pods(5), [100, 300, 500, 250, 250]), 50, 3, 28],
    ['are unchanged if the usage is near the target', ask(pods(3), [1010, 1030, 1020]), 100, 3, 102],
    ['are unchanged exactly at the tolerance', ask(pods(3), [1100, 1100, 1100]), 100, 3, 110],
    ['are one more just beyond the tolerance', ask(pods(3), [1110, 1110, 1110]), 100, 4, 111],
    ['exclude failed pods', ask([...pods(2), failed(old('x'))], [900, 900, undefined]), 50, 4, 90],
    ['count a pod without a metric as idle when scaling up', ask(pods(3), [950, 950, undefined]), 50, 4, 95],
    [
      'count a pod without a metric as using its whole request when scaling down',
      ask(pods(4), [100, 100, 100, undefined]),
      50,
      3,
      10,
    ],
    [
      'never change in the opposite direction because of a missing metric',
      ask(pods(3), [600, undefined, undefined]),
      50,
      3,
      60,
    ],
    ['count starting pods as idle', ask([...pods(1), unready(old('n'), 30)], [950, 950]), 50, 2, 95],
  ];
  for (const [what, question, target, replicas, utilization] of table)
    it(what, () => {
      const answer = replicasByUtilization(question, target, cpu);
      assert.deepEqual([answer.replicas, answer.utilization], [replicas, utilization]);
    });

  it('include a pod that was ready and is no longer ready', () => {
    const late: Pod = {
      ...old('l'),
      status: {
        phase: 'Running',
        startTime: at(0),
        conditions: [{ type: 'Ready', status: 'False', lastTransitionTime: at(1800) }],
      },
    };
    assert.equal(replicasByUtilization(ask([...pods(1), late], [1000, 1000]), 50, cpu).replicas, 4);
  });

  it('ignore measurements from before a new pod was ready', () => {
    const readyAt = (seconds: number): Pod => ({
      ...old('n'),
      status: {
        phase: 'Running',
        startTime: at(59 * 60),
        conditions: [{ type: 'Ready', status: 'True', lastTransitionTime: at(seconds) }],
      },
    });
    const hour = 60 * 60;
    const count = (one: Pod, isCpu = true) =>
      replicasByUtilization(ask([...pods(1), one], [1000, 1000], { isCpu }), 50, cpu).replicas;
    assert.equal(count(readyAt(hour - 5)), 2);
    assert.equal(count(readyAt(hour - 11)), 4);
    assert.equal(count(readyAt(hour - 5), false), 4);
  });

  it('are unknown without pods, without metrics or without requests', () => {
    const told = (question: Question) => () => replicasByUtilization(question, 50, cpu);
    assert.throws(told(ask([], [])), /no pods returned by selector/);
    assert.throws(told(ask(pods(2), [])), /did not receive metrics for targeted pods/);
    const unasked = pod('bare', { readyAt: 0 });
    const bare = { ...unasked, status: { ...unasked.status, startTime: at(0) } };
    assert.throws(told(ask([bare], [1])), /missing request for cpu in container app of Pod bare/);
    assert.throws(() => requestOf(old('p'), 'cpu', 'other'), /container other not found in Pod p/);
  });
});

describe('the replicas for a mean', () => {
  it('are the number that brings the mean to the target', () => {
    const answer = replicasByAverage(ask(pods(3), [20_000, 10_000, 12_000]), 7_000);
    assert.deepEqual(answer, { replicas: 6, average: 14_000 });
  });

  it('are unchanged while the mean is near the target', () => {
    assert.equal(replicasByAverage(ask(pods(2), [1_050, 1_050]), 1_000).replicas, 2);
  });

  it('assume the target usage for pods without metrics when scaling down', () => {
    assert.equal(replicasByAverage(ask(pods(4), [100, 100, 100, undefined]), 1_000).replicas, 2);
  });
});
