/** Init containers and sidecars: actions, their order, and the status of the pod. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Pod } from '../../../../../src/api/core/v1/pod/pod.ts';
import { stopTurn } from '../../../../../src/kubelet/containers/plan/stop-turn.ts';
import { computePodStatus } from '../../../../../src/kubelet/pods/plan/pod-status.ts';
import type { ContainerState, SandboxState } from '../../../../../src/kubelet/runtime/runtime.ts';
import {
  type ActionCase,
  actionCases,
  exited,
  failure,
  makeContainer,
  makeMemory,
  makePod,
  makeSandbox,
  now,
  observed,
  planOf,
  seconds,
} from '../../builders.ts';

const image = 'app:1';
const steps = (...names: readonly string[]) => names.map((name) => ({ name, image }));
const sidecar = (name: string) => ({ name, image, restartPolicy: 'Always' });
const deleted = { deletionTimestamp: '2026-01-01T12:00:00Z', deletionGracePeriodSeconds: 10 };

const statusOf = (pod: Pod, ...objects: readonly (SandboxState | ContainerState)[]) =>
  computePodStatus({
    pod,
    observed: observed(...objects),
    memory: makeMemory(),
    nodeIP: '192.0.2.1',
    now,
  });

const start = (name: string, attempt = 0, crashes = attempt) =>
  `start ${name} in sandbox-0 attempt ${attempt} crashes ${crashes}`;

describe('init containers', () => {
  const pod = makePod({ initContainers: steps('one', 'two') });
  const done = (name: string, more: Partial<ContainerState> = {}) => exited(0, { name, ...more });
  const sandbox = makeSandbox();
  const rows: readonly ActionCase[] = [
    {
      name: 'the sandbox is created before any init container',
      pod,
      objects: [],
      actions: ['createSandbox 0'],
    },
    {
      name: 'only the first init container starts in a new sandbox',
      pod,
      objects: [sandbox],
      actions: [start('one')],
    },
    {
      name: 'the second init container waits while the first runs',
      pod,
      objects: [sandbox, makeContainer({ name: 'one' })],
      actions: [],
    },
    {
      name: 'the second init container starts when the first has succeeded',
      pod,
      objects: [sandbox, done('one')],
      actions: [start('two')],
    },
    {
      name: 'a failed init container is restarted',
      pod,
      objects: [sandbox, exited(1, { name: 'one' })],
      actions: [start('one', 1)],
    },
    {
      name: 'an OOM killed init container is restarted, although its exit code is 0',
      pod,
      objects: [sandbox, exited(0, { name: 'one', oomKilled: true })],
      actions: [start('one', 1)],
    },
    {
      name: 'an init container that was created and never started is created again',
      pod,
      objects: [sandbox, done('one'), makeContainer({ name: 'two', state: 'created' })],
      actions: ['removeContainer two-0', start('two')],
    },
    {
      name: 'the main container starts after the last init container',
      pod,
      objects: [sandbox, done('one'), done('two')],
      actions: [start('main')],
    },
    {
      name: 'an earlier init container whose record was removed is not run again',
      pod,
      objects: [sandbox, done('two')],
      actions: [start('main')],
    },
    {
      name: 'no init container starts once the main container runs',
      pod,
      objects: [sandbox, makeContainer()],
      actions: [],
    },
    {
      name: 'a main container that was created and never started is removed while an init container runs',
      pod,
      objects: [sandbox, makeContainer({ name: 'one' }), makeContainer({ state: 'created' })],
      actions: ['removeContainer main-0'],
    },
    {
      name: 'no init container runs again when the main container restarts',
      pod,
      objects: [sandbox, exited(1)],
      actions: [start('main', 1)],
    },
    {
      name: 'init containers run again in a new sandbox',
      pod,
      objects: [makeSandbox({ id: 'sandbox-1', attempt: 1 }), done('one'), done('two'), exited(137)],
      actions: ['start one in sandbox-1 attempt 1 crashes 1'],
    },
    {
      name: 'the second init container runs again in a new sandbox, after the first',
      pod,
      objects: [
        makeSandbox({ id: 'sandbox-1', attempt: 1 }),
        done('one', { attempt: 1, sandboxId: 'sandbox-1' }),
        done('two'),
        exited(137),
      ],
      actions: ['start two in sandbox-1 attempt 1 crashes 1'],
    },
    {
      name: 'a dead sandbox is not replaced while an init container runs in it',
      pod,
      objects: [makeSandbox({ state: 'exited' }), done('one'), makeContainer({ name: 'two' })],
      actions: ['removeSandbox sandbox-0', 'terminate two two-0: the sandbox of the container is gone'],
      requeueAfter: seconds(30),
    },
    {
      name: 'a dead sandbox is replaced for an init container that has not succeeded',
      pod,
      objects: [makeSandbox({ state: 'exited' }), done('one'), exited(137, { name: 'two' })],
      actions: ['removeSandbox sandbox-0', 'createSandbox 1'],
    },
  ];
  actionCases(rows);

  it('a failed init container restarts after its back-off', () => {
    const failed = exited(1, { name: 'one', attempt: 2, crashes: 2, finishedAt: now - seconds(5) });
    assert.deepEqual(planOf(pod, [sandbox, failed]), { actions: [], requeueAfter: seconds(15) });
    const startFailures = new Map([['one', failure('ErrImagePull', 4, 1, { name: 'one', image })]]);
    assert.deepEqual(planOf(pod, [sandbox], { startFailures }), { actions: [], requeueAfter: seconds(4) });
  });

  it('init containers count as done if one main container has run', () => {
    const two = makePod({ initContainers: steps('one'), containers: steps('main', 'side') });
    assert.deepEqual(planOf(two, [sandbox, makeContainer()]).actions, [start('side')]);
  });

  it('a new image of an init container takes effect at its next run, and causes none', () => {
    const other = makePod({ initContainers: [{ name: 'one', image: 'app:2' }] });
    assert.deepEqual(planOf(other, [sandbox, makeContainer({ name: 'one' })]).actions, []);
    assert.deepEqual(planOf(other, [sandbox, done('one')]).actions, [start('main')]);
    const failed = exited(1, { name: 'one', attempt: 3, crashes: 3 });
    assert.deepEqual(planOf(other, [sandbox, failed]).actions, [start('one', 4, 0)]);
  });

  it('a failed init container ends a pod with restartPolicy Never', () => {
    const never = makePod({ restartPolicy: 'Never', initContainers: steps('one', 'two') });
    const failed = exited(1, { name: 'one' });
    assert.deepEqual(planOf(never, [sandbox, failed]).actions, ['removeSandbox sandbox-0']);
    const status = statusOf(never, sandbox, failed);
    assert.equal(status.phase, 'Failed');
    assert.deepEqual(
      [status.initContainerStatuses, status.containerStatuses].map((list) =>
        list?.map(({ state }) =>
          Object.entries(state ?? {}).map(([kind, { reason }]) => `${kind} ${reason}`),
        ),
      ),
      [[['terminated Error'], ['waiting PodInitializing']], [['waiting PodInitializing']]],
    );
    const conditions = new Map(status.conditions?.map((one) => [one.type, one]));
    assert.equal(conditions.get('Initialized')?.message, 'containers with incomplete status: [one two]');
    assert.equal(conditions.get('Initialized')?.reason, 'ContainersNotInitialized');
  });

  it('the phase is Pending until a main container starts after all init containers', () => {
    const phaseOf = (...containers: readonly ContainerState[]) => statusOf(pod, sandbox, ...containers).phase;
    assert.equal(phaseOf(), 'Pending');
    assert.equal(phaseOf(makeContainer({ name: 'one' })), 'Pending');
    assert.equal(phaseOf(exited(1, { name: 'one' })), 'Pending');
    assert.equal(phaseOf(exited(1, { name: 'one', crashes: 3 })), 'Pending');
    assert.equal(phaseOf(done('one'), done('two')), 'Pending');
    assert.equal(phaseOf(done('one'), done('two'), makeContainer()), 'Running');
    assert.equal(phaseOf(done('one'), done('two'), exited(1, { crashes: 3 })), 'Running');
  });

  it('each status has the restart count, state and last state of its init container', () => {
    const { initContainerStatuses = [] } = statusOf(
      pod,
      sandbox,
      exited(2, { name: 'one' }),
      done('one', { attempt: 1 }),
      makeContainer({ name: 'two' }),
    );
    assert.deepEqual(
      initContainerStatuses.map(({ name, restartCount, ready, started, containerID, lastState }) => [
        name,
        restartCount,
        ready,
        started,
        containerID,
        lastState?.terminated?.exitCode,
      ]),
      [
        ['one', 1, true, false, 'docker://one-1', 2],
        ['two', 0, false, true, 'docker://two-0', undefined],
      ],
    );
  });
});

describe('sidecars', () => {
  const pod = makePod({ initContainers: [sidecar('net'), ...steps('one'), sidecar('log')] });
  const sandbox = makeSandbox();
  const running = (name: string, stopTurn: number | undefined) => makeContainer({ name, stopTurn });
  const [net, log] = [running('net', 2), running('log', 1)];
  const one = exited(0, { name: 'one' });
  const rows: readonly ActionCase[] = [
    { name: 'the first sidecar starts first', pod, objects: [sandbox], actions: [start('net')] },
    {
      name: 'the init container after a running sidecar starts',
      pod,
      objects: [sandbox, net],
      actions: [start('one')],
    },
    {
      name: 'an ended sidecar restarts while the init container after it runs',
      pod,
      objects: [sandbox, exited(0, { name: 'net' }), running('one', undefined)],
      actions: [start('net', 1)],
    },
    {
      name: 'the init container after an ended sidecar waits for its restart',
      pod,
      objects: [sandbox, exited(1, { name: 'net' })],
      actions: [start('net', 1)],
    },
    {
      name: 'the last sidecar starts before the main container',
      pod,
      objects: [sandbox, net, one],
      actions: [start('log')],
    },
    {
      name: 'the main container starts once all sidecars run',
      pod,
      objects: [sandbox, net, one, log],
      actions: [start('main')],
    },
    {
      name: 'ended sidecars restart beside the running main container',
      pod,
      objects: [sandbox, exited(0, { name: 'net' }), one, exited(1, { name: 'log' }), makeContainer()],
      actions: [start('net', 1), start('log', 1)],
    },
    {
      name: 'a sidecar without a record starts beside the running main container',
      pod,
      objects: [sandbox, net, makeContainer()],
      actions: [start('log')],
    },
  ];
  actionCases(rows);

  it('are terminated when their image changes', () => {
    const other = makePod({ initContainers: [{ ...sidecar('net'), image: 'app:2' }] });
    assert.deepEqual(planOf(other, [sandbox, net, makeContainer()]).actions, [
      'terminate net net-0: its definition changed',
    ]);
  });

  it('are terminated after the main containers, in reverse order', () => {
    assert.deepEqual(
      ['main', 'net', 'one', 'log', 'none'].map((name) => stopTurn(pod.spec, { name })),
      [0, 2, undefined, 1, undefined],
    );
    const two = makePod({ containers: ['a', 'b'].map((name) => ({ name, image: 'app:1' })) });
    assert.deepEqual(
      ['a', 'b'].map((name) => stopTurn(two.spec, { name })),
      [0, 0],
    );
    const ends = makePod({ initContainers: pod.spec.initContainers }, deleted);
    const why = 'the pod is deleted';
    assert.deepEqual(planOf(ends, [sandbox, net, log, makeContainer()]), {
      actions: [
        `begin to stop net net-0: ${why}`,
        `begin to stop log log-0: ${why}`,
        `terminate main main-0: ${why}`,
      ],
      requeueAfter: seconds(10),
    });
    const stopBegan = new Map([
      ['net-0', now],
      ['log-0', now],
    ]);
    const stopping = new Map([['main-0', now]]);
    const later = now + seconds(4);
    assert.deepEqual(planOf(ends, [sandbox, net, log, makeContainer()], { stopBegan, stopping }, later), {
      actions: [],
      requeueAfter: seconds(6),
    });
    assert.deepEqual(planOf(ends, [sandbox, net, log, exited(0)], { stopBegan }, later), {
      actions: [`terminate log log-0: ${why}`],
      requeueAfter: seconds(6),
    });
    // All containers have one grace period; a container that is signaled only after it gets two seconds.
    const over = now + seconds(10);
    assert.deepEqual(planOf(ends, [sandbox, net, log, makeContainer()], { stopBegan, stopping }, over), {
      actions: [`terminate net net-0: ${why}`, `terminate log log-0: ${why}`, 'kill main main-0'],
      requeueAfter: seconds(2),
    });
    const asked = new Map([['net-0', over]]);
    assert.deepEqual(
      planOf(ends, [sandbox, net, exited(0)], { stopBegan, stopping: asked }, over + seconds(2)).actions,
      ['kill net net-0'],
    );
  });

  it('are terminated when the main containers have ended for good, and do not affect the phase', () => {
    const once = makePod({ restartPolicy: 'Never', initContainers: [sidecar('net')] });
    assert.deepEqual(planOf(once, [sandbox, net, exited(0)]).actions, [
      'terminate net net-0: the pod has ended',
    ]);
    assert.equal(statusOf(once, sandbox, net, exited(0)).phase, 'Running');
    const ended = statusOf(once, sandbox, exited(143, { name: 'net' }), exited(0));
    assert.equal(ended.phase, 'Succeeded');
    assert.equal(ended.initContainerStatuses?.[0]?.state?.terminated?.exitCode, 143);
    assert.deepEqual(planOf(once, [sandbox, exited(143, { name: 'net' }), exited(0)]).actions, [
      'removeSandbox sandbox-0',
    ]);
    assert.equal(statusOf(once, sandbox, exited(0, { name: 'net' }), exited(1)).phase, 'Failed');
  });

  it('run until a failed init container ends the pod', () => {
    const never = makePod({ restartPolicy: 'Never', initContainers: [sidecar('net'), ...steps('one')] });
    const failed = exited(1, { name: 'one' });
    assert.equal(statusOf(never, sandbox, net, failed).phase, 'Pending');
    assert.deepEqual(planOf(never, [sandbox, net, failed]).actions, [
      'terminate net net-0: the pod has ended',
    ]);
    assert.equal(statusOf(never, sandbox, exited(0, { name: 'net' }), failed).phase, 'Failed');
  });

  it('must start once before the pod is Running', () => {
    const simple = makePod({ initContainers: [sidecar('net')] });
    assert.equal(statusOf(simple, sandbox).phase, 'Pending');
    assert.equal(statusOf(simple, sandbox, net).phase, 'Pending');
    assert.equal(statusOf(simple, sandbox, net, makeContainer()).phase, 'Running');
    assert.equal(
      statusOf(simple, sandbox, exited(1, { name: 'net', crashes: 2 }), makeContainer()).phase,
      'Running',
    );
  });

  it('are required for the readiness of the pod', () => {
    const simple = makePod({ initContainers: [sidecar('net')] });
    const ready = (...containers: readonly ContainerState[]) =>
      statusOf(simple, sandbox, ...containers).conditions?.find(({ type }) => type === 'Ready');
    assert.equal(ready(net, makeContainer())?.status, 'True');
    assert.equal(
      ready(exited(1, { name: 'net', crashes: 2 }), makeContainer())?.message,
      'containers with unready status: [net]',
    );
  });
});
