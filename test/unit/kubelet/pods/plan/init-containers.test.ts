/** Init containers and sidecars: actions, their order, and the status of the pod. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Pod } from '../../../../../src/api/core/v1/pod/pod.ts';
import { stopTurn } from '../../../../../src/kubelet/containers/plan/stop-turn.ts';
import type { PodMemory } from '../../../../../src/kubelet/pods/plan/actions.ts';
import { computePodActions } from '../../../../../src/kubelet/pods/plan/compute-pod-actions.ts';
import { computePodStatus } from '../../../../../src/kubelet/pods/plan/pod-status.ts';
import type { ContainerState, SandboxState } from '../../../../../src/kubelet/runtime/runtime.ts';
import {
  exited,
  failure,
  makeContainer,
  makeMemory,
  makePod,
  makeSandbox,
  now,
  observed,
  seconds,
  short,
} from '../../builders.ts';

const image = 'app:1';
const steps = (...names: readonly string[]) => names.map((name) => ({ name, image }));
const sidecar = (name: string) => ({ name, image, restartPolicy: 'Always' });
const deleted = { deletionTimestamp: '2026-01-01T12:00:00Z', deletionGracePeriodSeconds: 10 };

function planOf(
  pod: Pod,
  objects: readonly (SandboxState | ContainerState)[],
  memory: Partial<PodMemory> = {},
  at = now,
) {
  const plan = computePodActions({
    pod,
    observed: observed(...objects),
    memory: makeMemory(memory),
    now: at,
  });
  return { actions: plan.actions.map(short), requeueAfter: plan.requeueAfter };
}

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
  const rows: readonly [
    what: string,
    objects: readonly (SandboxState | ContainerState)[],
    actions: readonly string[],
  ][] = [
    ['a sandbox comes first', [], ['createSandbox 0']],
    ['then the first alone', [sandbox], [start('one')]],
    ['the next waits while it runs', [sandbox, makeContainer({ name: 'one' })], []],
    ['and has its turn when that has ended well', [sandbox, done('one')], [start('two')]],
    ['a failed one runs again', [sandbox, exited(1, { name: 'one' })], [start('one', 1)]],
    [
      'so does one that ran out of memory',
      [sandbox, exited(0, { name: 'one', oomKilled: true })],
      [start('one', 1)],
    ],
    [
      'one that was made and never started is made again',
      [sandbox, done('one'), makeContainer({ name: 'two', state: 'created' })],
      ['removeContainer two-0', start('two')],
    ],
    ['after the last the pod’s own start', [sandbox, done('one'), done('two')], [start('main')]],
    ['what was removed of an earlier one is not missed', [sandbox, done('two')], [start('main')]],
    ['nothing of them once the others run', [sandbox, makeContainer()], []],
    [
      'one of the others that was made and never started does not count',
      [sandbox, makeContainer({ name: 'one' }), makeContainer({ state: 'created' })],
      ['removeContainer main-0'],
    ],
    ['nor when one of those ended', [sandbox, exited(1)], [start('main', 1)]],
    [
      'they run again in another sandbox',
      [makeSandbox({ id: 'sandbox-1', attempt: 1 }), done('one'), done('two'), exited(137)],
      ['start one in sandbox-1 attempt 1 crashes 1'],
    ],
    [
      'each of them',
      [
        makeSandbox({ id: 'sandbox-1', attempt: 1 }),
        done('one', { attempt: 1, sandboxId: 'sandbox-1' }),
        done('two'),
        exited(137),
      ],
      ['start two in sandbox-1 attempt 1 crashes 1'],
    ],
    [
      'a sandbox that died is replaced once what ran in it has ended',
      [makeSandbox({ state: 'exited' }), done('one'), makeContainer({ name: 'two' })],
      ['removeSandbox sandbox-0', 'terminate two two-0: the sandbox of the container is gone'],
    ],
    [
      'and for those that have yet to run',
      [makeSandbox({ state: 'exited' }), done('one'), exited(137, { name: 'two' })],
      ['removeSandbox sandbox-0', 'createSandbox 1'],
    ],
  ];
  for (const [what, objects, actions] of rows) {
    it(what, () => assert.deepEqual(planOf(pod, objects).actions, actions));
  }

  it('a failure is waited out, longer each time', () => {
    const failed = exited(1, { name: 'one', attempt: 2, crashes: 2, finishedAt: now - seconds(5) });
    assert.deepEqual(planOf(pod, [sandbox, failed]), { actions: [], requeueAfter: seconds(15) });
    const startFailures = new Map([['one', failure('ErrImagePull', 4, 1, { name: 'one', image })]]);
    assert.deepEqual(planOf(pod, [sandbox], { startFailures }), { actions: [], requeueAfter: seconds(4) });
  });

  it('one of several others that ran is enough', () => {
    const two = makePod({ initContainers: steps('one'), containers: steps('main', 'side') });
    assert.deepEqual(planOf(two, [sandbox, makeContainer()]).actions, [start('side')]);
  });

  it('a new image counts from the next run on, and does not make one', () => {
    const other = makePod({ initContainers: [{ name: 'one', image: 'app:2' }] });
    assert.deepEqual(planOf(other, [sandbox, makeContainer({ name: 'one' })]).actions, []);
    assert.deepEqual(planOf(other, [sandbox, done('one')]).actions, [start('main')]);
    const failed = exited(1, { name: 'one', attempt: 3, crashes: 3 });
    assert.deepEqual(planOf(other, [sandbox, failed]).actions, [start('one', 4, 0)]);
  });

  it('a failure ends a pod that is never restarted', () => {
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

  it('the phase is Pending until they have run, whatever they did', () => {
    const phaseOf = (...containers: readonly ContainerState[]) => statusOf(pod, sandbox, ...containers).phase;
    assert.equal(phaseOf(), 'Pending');
    assert.equal(phaseOf(makeContainer({ name: 'one' })), 'Pending');
    assert.equal(phaseOf(exited(1, { name: 'one' })), 'Pending');
    assert.equal(phaseOf(exited(1, { name: 'one', crashes: 3 })), 'Pending');
    assert.equal(phaseOf(done('one'), done('two')), 'Pending');
    assert.equal(phaseOf(done('one'), done('two'), makeContainer()), 'Running');
    assert.equal(phaseOf(done('one'), done('two'), exited(1, { crashes: 3 })), 'Running');
  });

  it('each is told with what ran of it', () => {
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
  const rows: readonly [
    what: string,
    objects: readonly (SandboxState | ContainerState)[],
    actions: readonly string[],
  ][] = [
    ['start in their turn', [sandbox], [start('net')]],
    ['the next goes on while one runs', [sandbox, net], [start('one')]],
    [
      'start again while the next runs',
      [sandbox, exited(0, { name: 'net' }), running('one', undefined)],
      [start('net', 1)],
    ],
    ['but not the next before that has started', [sandbox, exited(1, { name: 'net' })], [start('net', 1)]],
    ['the last is waited for, too', [sandbox, net, one], [start('log')]],
    ['then the pod’s own start', [sandbox, net, one, log], [start('main')]],
    [
      'start again beside the others',
      [sandbox, exited(0, { name: 'net' }), one, exited(1, { name: 'log' }), makeContainer()],
      [start('net', 1), start('log', 1)],
    ],
    ['though their own record was lost', [sandbox, net, makeContainer()], [start('log')]],
  ];
  for (const [what, objects, actions] of rows) {
    it(what, () => assert.deepEqual(planOf(pod, objects).actions, actions));
  }

  it('are made anew when their image is another', () => {
    const other = makePod({ initContainers: [{ ...sidecar('net'), image: 'app:2' }] });
    assert.deepEqual(planOf(other, [sandbox, net, makeContainer()]).actions, [
      'terminate net net-0: its definition changed',
    ]);
  });

  it('end after the others, the last of them first', () => {
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
    // The grace period is one for all containers, whatever the others do; a container that is signaled late
    // gets a moment.
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

  it('end when the pod’s own have ended for good, and do not count then', () => {
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

  it('run until a failed init container has ended the pod', () => {
    const never = makePod({ restartPolicy: 'Never', initContainers: [sidecar('net'), ...steps('one')] });
    const failed = exited(1, { name: 'one' });
    assert.equal(statusOf(never, sandbox, net, failed).phase, 'Pending');
    assert.deepEqual(planOf(never, [sandbox, net, failed]).actions, [
      'terminate net net-0: the pod has ended',
    ]);
    assert.equal(statusOf(never, sandbox, exited(0, { name: 'net' }), failed).phase, 'Failed');
  });

  it('are waited for before the pod is Running, and once only', () => {
    const simple = makePod({ initContainers: [sidecar('net')] });
    assert.equal(statusOf(simple, sandbox).phase, 'Pending');
    assert.equal(statusOf(simple, sandbox, net).phase, 'Pending');
    assert.equal(statusOf(simple, sandbox, net, makeContainer()).phase, 'Running');
    assert.equal(
      statusOf(simple, sandbox, exited(1, { name: 'net', crashes: 2 }), makeContainer()).phase,
      'Running',
    );
  });

  it('count towards readiness', () => {
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
