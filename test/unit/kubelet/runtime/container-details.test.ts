/** User and mounts in a container's status, and features in a node's status. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { computePodStatus } from '../../../../src/kubelet/pods/plan/pod-status.ts';
import { runtimeHandlers } from '../../../../src/kubelet/runtime/docker-config.ts';
import { userIn } from '../../../../src/kubelet/runtime/first-user.ts';
import { exited, makeContainer, makeMemory, makePod, makeSandbox, now, observed } from '../builders.ts';

const user = { uid: 1000, gid: 2000, supplementalGroups: [2000, 3000] };
const statusOf = (pod: ReturnType<typeof makePod>, found: ReturnType<typeof observed>, canMount = false) =>
  computePodStatus({
    ...{ pod, observed: found, memory: makeMemory(), nodeIP: '192.0.2.1', now },
    canMountRecursiveReadOnly: canMount,
  });

it('the user of a container is reported while it runs, and kept for the same container', () => {
  const told = statusOf(makePod(), observed(makeSandbox(), makeContainer({ user })));
  assert.deepEqual(told.containerStatuses?.[0]?.user, { linux: user });
  const never = { restartPolicy: 'Never' };
  const ended = statusOf(makePod(never, {}, told), observed(exited(0)));
  assert.deepEqual(ended.containerStatuses?.[0]?.user, { linux: user });
  const gone = statusOf(makePod(never, {}, ended), observed());
  assert.deepEqual(gone.containerStatuses?.[0]?.user, { linux: user });
  const next = statusOf(makePod({}, {}, told), observed(makeContainer({ attempt: 1 })));
  assert.equal(next.containerStatuses?.[0]?.user, undefined);
});

it('the mounts of every container are reported, with their recursive read-only state', () => {
  const volumeMounts = [
    { name: 'a', mountPath: '/a' },
    { name: 'a', mountPath: '/b', readOnly: true },
    { name: 'a', mountPath: '/c', readOnly: true, recursiveReadOnly: 'IfPossible' },
    { name: 'a', mountPath: '/d', readOnly: true, recursiveReadOnly: 'Disabled' },
  ];
  const one = { name: 'main', image: 'app:1', volumeMounts };
  const pod = makePod({
    volumes: [{ name: 'a', emptyDir: {} }],
    containers: [one],
    initContainers: [{ ...one, name: 'step' }],
  });
  const of = (canMount: boolean) => {
    const { containerStatuses = [], initContainerStatuses = [] } = statusOf(pod, observed(), canMount);
    assert.deepEqual(initContainerStatuses[0]?.volumeMounts, containerStatuses[0]?.volumeMounts);
    return containerStatuses[0]?.volumeMounts;
  };
  const told = (ifPossible: string) => [
    { name: 'a', mountPath: '/a' },
    { name: 'a', mountPath: '/b', readOnly: true, recursiveReadOnly: 'Disabled' },
    { name: 'a', mountPath: '/c', readOnly: true, recursiveReadOnly: ifPossible },
    { name: 'a', mountPath: '/d', readOnly: true, recursiveReadOnly: 'Disabled' },
  ];
  assert.deepEqual(of(false), told('Disabled'));
  assert.deepEqual(of(true), told('Enabled'));
});

it("the user of a container is read from the runtime's configuration", () => {
  const of = (process: unknown) => userIn({ process });
  assert.deepEqual(of({ user: { uid: 1000, gid: 2000, additionalGids: [2000, 3000] } }), user);
  assert.deepEqual(of({ user: { uid: 0, gid: 0 } }), { uid: 0, gid: 0, supplementalGroups: [] });
  for (const other of [undefined, {}, { user: { uid: 'x' } }, { user: { additionalGids: 1 } }])
    assert.equal(of(other), undefined);
  assert.equal(userIn(undefined), undefined);
});

it('a node reports the features of its runtimes that engine, kernel and runc support', () => {
  const info = {
    Runtimes: { runsc: { path: '/usr/bin/runsc' }, runc: { path: 'runc' } },
    DefaultRuntime: 'runc',
    KernelVersion: '6.1.0-18-amd64',
  };
  const told = (more: object, api = '1.44') =>
    runtimeHandlers({ ...info, ...more }, api).map((one) => `${one.name} ${one.recursiveReadOnlyMounts}`);
  assert.deepEqual(told({}), [' true', 'runc true', 'runsc false']);
  assert.deepEqual(told({}, '1.43'), [' false', 'runc false', 'runsc false']);
  assert.deepEqual(told({ KernelVersion: '5.10.0-28' }), [' false', 'runc false', 'runsc false']);
  assert.deepEqual(told({ KernelVersion: '5.12' }), [' true', 'runc true', 'runsc false']);
  assert.deepEqual(told({ DefaultRuntime: 'runsc' }), [' false', 'runc true', 'runsc false']);
  assert.deepEqual(runtimeHandlers({}, '1.44'), [{ name: '', recursiveReadOnlyMounts: false }]);
});
