/** Conditions of a pod that a node agent sets. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ContainerStatus } from '../../../../../src/api/core/v1/types.gen.ts';
import {
  type ConditionInput,
  isOwnCondition,
  podConditions,
} from '../../../../../src/kubelet/pods/plan/pod-conditions.ts';
import { makeMemory, makePod, makeSandbox, observed } from '../../builders.ts';

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
/** Returns the conditions by type; the pod runs by default. */
function said(over: Partial<ConditionInput> = {}) {
  const conditions = podConditions({
    pod: makePod(),
    phase: 'Running',
    containerStatuses: [container('main', { containerID: 'docker://1' })],
    initStatuses: [],
    end: undefined,
    observed: observed(makeSandbox()),
    memory: makeMemory(),
    ...over,
  });
  return Object.fromEntries(conditions.map(({ type, ...rest }) => [type, rest]));
}
const yes = { status: 'True' };

it('the conditions of a node agent are recognised by their types, and DisruptionTarget by its reason', () => {
  const own = [
    'ContainersReady',
    'Initialized',
    'PodReadyToStartContainers',
    'PodResizeInProgress',
    'PodResizePending',
    'PodScheduled',
    'Ready',
  ];
  for (const type of own) assert.ok(isOwnCondition({ type }), type);
  assert.ok(!isOwnCondition({ type: 'example.org/gate' }));
  for (const [reason, isOwn] of [
    ['TerminationByKubelet', true],
    ['EvictionByEvictionAPI', false],
    ['PreemptionByScheduler', false],
  ] as const)
    assert.equal(isOwnCondition({ type: 'DisruptionTarget', reason }), isOwn, reason);
  assert.deepEqual(said(), {
    PodReadyToStartContainers: yes,
    Initialized: yes,
    Ready: yes,
    ContainersReady: yes,
    PodScheduled: yes,
  });
});

describe('PodReadyToStartContainers', () => {
  const held = makePod({ hostUsers: false });
  const none = observed();

  it('is True while a sandbox runs', () => {
    assert.deepEqual(said({ observed: none }).PodReadyToStartContainers, { status: 'False' });
    const stopped = observed(makeSandbox({ state: 'exited' }));
    assert.deepEqual(said({ observed: stopped }).PodReadyToStartContainers, { status: 'False' });
  });

  it('has the reason why a pod is not started while it waits', () => {
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

  it('is False until the init containers have run, and names them', () => {
    assert.deepEqual(said({ phase: 'Pending', initStatuses, containerStatuses: waiting }).Initialized, {
      status: 'False',
      reason: 'ContainersNotInitialized',
      message: 'containers with incomplete status: [one two]',
    });
  });

  it('is True without init containers, or once a container after them was started', () => {
    assert.deepEqual(said({ containerStatuses: waiting }).Initialized, yes);
    const [first] = waiting;
    assert.ok(first);
    for (const state of [{ running: {} }, { terminated: { exitCode: 1 } }]) {
      const containerStatuses: ContainerStatus[] = [first, container('b', { state })];
      assert.deepEqual(said({ initStatuses, containerStatuses }).Initialized, yes);
    }
    const tried = [first, container('b', { containerID: 'docker://1', state: { waiting: {} } })];
    assert.equal(said({ initStatuses, containerStatuses: tried }).Initialized?.status, 'False');
  });

  it('waits for a sidecar to start, not to be ready', () => {
    const pod = makePod({ initContainers: [{ name: 'one', image: 'i', restartPolicy: 'Always' }] });
    const of = (started: boolean) => {
      const initStatuses = [container('one', { ready: false, started })];
      return said({ pod, phase: 'Pending', initStatuses, containerStatuses: waiting });
    };
    assert.equal(of(false).Initialized?.message, 'containers with incomplete status: [one]');
    assert.deepEqual(of(true).Initialized, yes);
    assert.equal(of(true).Ready?.message, 'containers with unready status: [one a b]');
  });

  it('is True for a pod that has succeeded', () => {
    assert.deepEqual(said({ phase: 'Succeeded', initStatuses }).Initialized, {
      status: 'True',
      reason: 'PodCompleted',
    });
  });
});

describe('Ready and ContainersReady', () => {
  it('name the containers that are not ready', () => {
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

  it('name a sidecar that is not ready, and no other init container', () => {
    const pod = makePod({
      initContainers: [
        { name: 'sidecar', image: 'app:1', restartPolicy: 'Always' },
        { name: 'step', image: 'app:1' },
      ],
    });
    const { ContainersReady } = said({
      pod,
      phase: 'Pending',
      initStatuses: ['sidecar', 'step'].map((name) => container(name, { ready: false })),
      containerStatuses: [container('main', { ready: false })],
    });
    assert.equal(ContainersReady?.message, 'containers with unready status: [sidecar main]');
  });

  it('are False for an ended pod with any container statuses', () => {
    for (const [phase, reason] of [
      ['Succeeded', 'PodCompleted'],
      ['Failed', 'PodFailed'],
    ] as const) {
      assert.deepEqual(said({ phase }).Ready, { status: 'False', reason });
      assert.deepEqual(said({ phase }).ContainersReady, { status: 'False', reason });
    }
  });

  it('are False for a pod that the node terminates, and DisruptionTarget has the cause once it has failed', () => {
    const end = { reason: 'Evicted', message: 'no memory', disruption: true };
    const because = { reason: 'TerminationByKubelet', message: 'no memory' };
    const { Ready, ContainersReady, DisruptionTarget } = said({ end });
    const failed = { status: 'False', reason: 'PodFailed' };
    assert.deepEqual([Ready, ContainersReady, DisruptionTarget], [failed, failed, undefined]);
    assert.ok(!('DisruptionTarget' in said({ end: { ...end, disruption: false }, phase: 'Failed' })));
    assert.deepEqual(said({ end, phase: 'Failed' }).Ready, { status: 'False', reason: 'PodFailed' });
    assert.deepEqual(said({ end, phase: 'Failed' }).DisruptionTarget, { status: 'True', ...because });
  });
});

describe('Ready of a pod with readiness gates', () => {
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

  it('is True once each gate is True', () => {
    assert.deepEqual(said({ pod: gated('True', 'True') }).Ready, yes);
  });

  it('is False with the missing gates in its message until then, although ContainersReady is True', () => {
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
