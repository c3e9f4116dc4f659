/** What a node agent says of a pod in its conditions. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ContainerStatus } from '../../../src/api/core/v1/types.gen.ts';
import {
  type ConditionInput,
  ownConditions,
  podConditions,
} from '../../../src/kubelet/plan/pod-conditions.ts';
import { makePod, makeSandbox, observed } from './builders.ts';

const container = (name: string, more: Partial<ContainerStatus> = {}): ContainerStatus => ({
  name,
  image: 'app:1',
  imageID: '',
  ready: true,
  restartCount: 0,
  state: {},
  lastState: {},
  ...more,
});
/** By type; a pod that runs, but for what is given. */
function said(over: Partial<ConditionInput> = {}) {
  const conditions = podConditions({
    pod: makePod(),
    phase: 'Running',
    containerStatuses: [container('main', { containerID: 'docker://1' })],
    initStatuses: [],
    end: undefined,
    observed: observed(makeSandbox()),
    ...over,
  });
  return Object.fromEntries(conditions.map(({ type, ...rest }) => [type, rest]));
}
const yes = { status: 'True' };

it('the conditions of a node agent are known by their types', () => {
  assert.deepEqual([...ownConditions].sort(), [
    'ContainersReady',
    'DisruptionTarget',
    'Initialized',
    'PodReadyToStartContainers',
    'PodScheduled',
    'Ready',
  ]);
  assert.deepEqual(said(), {
    PodReadyToStartContainers: yes,
    Initialized: yes,
    Ready: yes,
    ContainersReady: yes,
    PodScheduled: yes,
  });
});

describe('PodReadyToStartContainers', () => {
  const held = makePod({ initContainers: [{ name: 'init', image: 'i' }] });
  const none = observed();

  it('is as true as a sandbox runs', () => {
    assert.deepEqual(said({ observed: none }).PodReadyToStartContainers, { status: 'False' });
    const stopped = observed(makeSandbox({ state: 'exited' }));
    assert.deepEqual(said({ observed: stopped }).PodReadyToStartContainers, { status: 'False' });
  });

  it('says why a pod is not started, as long as it is waited for', () => {
    assert.equal(
      said({ pod: held, phase: 'Pending', observed: none }).PodReadyToStartContainers?.reason,
      'NotSupported',
    );
    assert.deepEqual(said({ pod: held, phase: 'Failed', observed: none }).PodReadyToStartContainers, {
      status: 'False',
    });
    assert.deepEqual(said({ phase: 'Pending', observed: none }).PodReadyToStartContainers, {
      status: 'False',
    });
  });
});

describe('Initialized', () => {
  const initStatuses = [container('one', { ready: false }), container('two', { ready: false })];
  const waiting = [container('a', { ready: false }), container('b', { ready: false })];

  it('is not true before init containers have run, and names them', () => {
    assert.deepEqual(said({ phase: 'Pending', initStatuses, containerStatuses: waiting }).Initialized, {
      status: 'False',
      reason: 'ContainersNotInitialized',
      message: 'containers with incomplete status: [one two]',
    });
  });

  it('is true where there are none, or a container behind them was started', () => {
    assert.deepEqual(said({ containerStatuses: waiting }).Initialized, yes);
    const [first] = waiting;
    assert.ok(first);
    const containerStatuses = [first, container('b', { containerID: 'docker://1' })];
    assert.deepEqual(said({ initStatuses, containerStatuses }).Initialized, yes);
  });

  it('is true of a pod that has done its work', () => {
    assert.deepEqual(said({ phase: 'Succeeded', initStatuses }).Initialized, {
      status: 'True',
      reason: 'PodCompleted',
    });
  });
});

describe('Ready and ContainersReady', () => {
  it('name the containers that are not', () => {
    const containerStatuses = [
      container('a', { ready: false }),
      container('b'),
      container('c', { ready: false }),
    ];
    const { Ready, ContainersReady } = said({ containerStatuses });
    assert.deepEqual(Ready, {
      status: 'False',
      reason: 'ContainersNotReady',
      message: 'containers with unready status: [a c]',
    });
    assert.deepEqual(ContainersReady, Ready);
  });

  it('are not true of a pod at its end, whatever its containers say', () => {
    for (const [phase, reason] of [
      ['Succeeded', 'PodCompleted'],
      ['Failed', 'PodFailed'],
    ] as const) {
      assert.deepEqual(said({ phase }).Ready, { status: 'False', reason });
      assert.deepEqual(said({ phase }).ContainersReady, { status: 'False', reason });
    }
  });

  it('are not true of a pod that the node ends, and say why', () => {
    const end = { reason: 'Evicted', message: 'no memory', disruption: true };
    const because = { reason: 'TerminationByKubelet', message: 'no memory' };
    const { Ready, ContainersReady, DisruptionTarget } = said({ end });
    assert.deepEqual(
      [Ready, ContainersReady, DisruptionTarget],
      [
        { status: 'False', ...because },
        { status: 'False', ...because },
        { status: 'True', ...because },
      ],
    );
    assert.ok(!('DisruptionTarget' in said({ end: { ...end, disruption: false } })));
    assert.deepEqual(said({ end, phase: 'Failed' }).Ready, { status: 'False', reason: 'PodFailed' });
    assert.deepEqual(said({ end, phase: 'Failed' }).DisruptionTarget, { status: 'True', ...because });
  });
});

describe('a pod with readiness gates', () => {
  const gated = (...statuses: (string | undefined)[]) =>
    makePod(
      { readinessGates: statuses.map((_, index) => ({ conditionType: `a.example/${index}` })) },
      {},
      {
        conditions: statuses.flatMap((status, index) =>
          status === undefined ? [] : [{ type: `a.example/${index}`, status }],
        ),
      },
    );

  it('is ready once each has been said to be true', () => {
    assert.deepEqual(said({ pod: gated('True', 'True') }).Ready, yes);
  });

  it('is not before, and says which are missing, while its containers are ready', () => {
    const { Ready, ContainersReady } = said({ pod: gated('True', 'False', undefined) });
    assert.equal(Ready?.status, 'False');
    assert.equal(Ready?.reason, 'ReadinessGatesNotReady');
    const [wrong, missing, ...more] = Ready?.message?.split(', but False, ') ?? [];
    assert.match(wrong ?? '', /readiness gate "a\.example\/1" is not "True"$/);
    assert.match(missing ?? '', /readiness gate "a\.example\/2" does not exist\.$/);
    assert.deepEqual(more, []);
    assert.deepEqual(ContainersReady, yes);
  });
});
