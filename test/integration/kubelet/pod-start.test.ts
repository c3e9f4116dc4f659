/** Pods that a node must not start as they are, or not yet; readiness gates and changed images. */
import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { podCondition } from '../../../src/api/core/v1/pod/conditions.ts';
import type { Pod } from '../../../src/api/core/v1/pod/pod.ts';
import { RuntimeError } from '../../../src/docker/runtime-error.ts';
import { FakeClock } from '../../fixtures/fake-clock.ts';
import { eventually, isReady } from './node-harness.ts';
import { facts, type SimulatedNode, startSimulatedNode } from './simulated-node.ts';

const main = (more: object = {}) => ({ name: 'main', image: 'app:1', ...more });
const waitingFor = (reason: string) => (pod: Pod) =>
  pod.status?.containerStatuses?.[0]?.state?.waiting?.reason === reason;

describe('a pod', () => {
  let node: SimulatedNode;

  beforeEach(async () => {
    node = await startSimulatedNode();
  });
  afterEach(() => node.close());

  const ready = async () =>
    eventually(async () => assert.equal((await node.condition('Ready')).status, 'True'));
  const told = (event: string) =>
    eventually(async () => assert.ok(node.events.includes(event), JSON.stringify(node.events)));
  const statusColumn = async (name: string) => {
    const headers = { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' };
    const path = `/api/v1/namespaces/default/pods/${name}`;
    const table = (await node.server.call('GET', path, undefined, { headers })).json<{
      rows: { cells: unknown[] }[];
    }>();
    return table.rows[0]?.cells[2];
  };

  it('waits with the reason while it has unsupported fields, and no part of it is created', async () => {
    node.start();
    await ready();
    await node.createPod('unserved', { hostUsers: false, containers: [main()] });
    await node.createPod('plain');
    await node.waitFor('plain', isReady);
    const pod = await node.waitFor('unserved', waitingFor('NotSupported'));
    const message =
      'the pod is not started: minik8s does not support these fields yet: spec.hostUsers (Docker maps the users of all containers or of none)';
    assert.equal(pod.status?.phase, 'Pending');
    assert.equal(pod.status?.containerStatuses?.[0]?.state?.waiting?.message, message);
    const sandbox = podCondition(pod, 'PodReadyToStartContainers');
    assert.deepEqual(
      [sandbox?.status, sandbox?.reason, sandbox?.message],
      ['False', 'NotSupported', message],
    );
    await told(`NotSupported ${message}`);
    assert.equal(await statusColumn('unserved'), 'NotSupported');
    for (const { id } of await node.runtime.list()) {
      assert.notEqual((await node.runtime.inspect(id))?.pod?.name, 'unserved');
    }
  });

  it('waits with CreateContainerError while the AppArmor profile does not exist', async () => {
    node.start({ facts: { ...facts, hasAppArmor: true } });
    await ready();
    const appArmorProfile = { type: 'Localhost', localhostProfile: 'unconfined' };
    await node.createPod('free', { containers: [main({ securityContext: { appArmorProfile } })] });
    const pod = await node.waitFor('free', waitingFor('CreateContainerError'));
    const said = pod.status?.containerStatuses?.[0]?.state?.waiting?.message ?? '';
    assert.match(said, /^cannot use AppArmor profile "unconfined": /);
    assert.deepEqual(await node.running('free'), []);
  });

  it('waits with CreateContainerConfigError if its configuration cannot be used, and a Warning has the reason', async () => {
    node.start();
    await ready();
    await node.createPod('root', { securityContext: { runAsNonRoot: true }, containers: [main()] });
    const pod = await node.waitFor('root', waitingFor('CreateContainerConfigError'));
    const why = `container has runAsNonRoot and image will run as root (pod: "root_default(${pod.metadata.uid})", container: main)`;
    assert.equal(pod.status?.containerStatuses?.[0]?.state?.waiting?.message, why);
    await told(`Failed Error: ${why}`);
    assert.deepEqual(await node.running('root'), []);

    const env = [{ name: 'A', valueFrom: { configMapKeyRef: { name: 'nosuch', key: 'a' } } }];
    await node.createPod('unset', { containers: [main({ env })] });
    await node.waitFor('unset', waitingFor('CreateContainerConfigError'));
    await told('Failed Error: configmap "nosuch" not found');
  });

  it('waits with CreateContainerError if the engine cannot create its container, and a Warning has the reason', async () => {
    node.start();
    await ready();
    node.runtime.createContainer = async () => {
      throw new RuntimeError('Failed', 'Docker cannot create container main: no such device');
    };
    await node.createPod('broken');
    await node.waitFor('broken', waitingFor('CreateContainerError'));
    await told('Failed Error: Docker cannot create container main: no such device');
  });

  it('ends with ContainerCannotRun if its command does not exist, and one Warning has the reason', async () => {
    node.start();
    await ready();
    const why = 'exec: "absent": executable file not found in $PATH';
    const failed = new Set<string>();
    node.runtime.startContainer = async (id) => {
      failed.add(id);
      throw new RuntimeError('CannotRun', `Docker cannot start: ${why}`);
    };
    const inspect = node.runtime.inspect.bind(node.runtime);
    node.runtime.inspect = async (id) => {
      const found = await inspect(id);
      if (found?.kind !== 'container' || !failed.has(id)) return found;
      return { ...found, state: 'exited', exitCode: 127, error: why, finishedAt: found.createdAt };
    };
    await node.createPod('absent', { restartPolicy: 'Never', containers: [main({ command: ['absent'] })] });
    const pod = await node.waitFor('absent', ({ status }) => status?.phase === 'Failed');
    assert.equal(pod.status?.containerStatuses?.[0]?.state?.terminated?.reason, 'ContainerCannotRun');
    await told(`Failed Error: failed to start container main: ${why}`);
    assert.equal(node.events.filter((event) => event.startsWith('Failed ')).length, 1, String(node.events));
  });

  it('fails with SysctlForbidden if it sets an unsafe sysctl', async () => {
    node.start();
    await ready();
    await node.createPod('tuned', {
      securityContext: { sysctls: [{ name: 'kernel.msgmax', value: '1' }] },
      containers: [main()],
    });
    const pod = await node.waitFor('tuned', ({ status }) => status?.phase === 'Failed');
    assert.deepEqual(
      [pod.status?.reason, pod.status?.message],
      ['SysctlForbidden', 'Pod was rejected: forbidden sysctl: "kernel.msgmax" not allowlisted'],
    );
  });

  it('fails with DeadlineExceeded when its activeDeadlineSeconds are over', async () => {
    const clock = new FakeClock(Date.now());
    node.start({ clock, heartbeatMs: 600_000 });
    const after = (ms: number, test: (pod: Pod) => boolean) =>
      eventually(async () => {
        await clock.advance(ms);
        const pod = await node.pod('late');
        assert.ok(test(pod), JSON.stringify(pod.status));
        return pod;
      });
    await node.createPod('late', { activeDeadlineSeconds: 3600, containers: [main()] });
    await after(20, isReady);
    await clock.advance(3_540_000);
    assert.ok(isReady(await node.pod('late')));
    const pod = await after(60_000, ({ status }) => status?.phase === 'Failed');
    assert.deepEqual(
      [pod.status?.reason, pod.status?.message],
      ['DeadlineExceeded', 'Pod was active on the node longer than the specified deadline'],
    );
    assert.deepEqual(await node.running('late'), []);
  });

  it('is not ready before other clients have set its readiness gates', async () => {
    node.start();
    await ready();
    await node.createPod('gated', {
      readinessGates: [{ conditionType: 'a.example/b' }],
      containers: [main()],
    });
    const pod = await node.waitFor(
      'gated',
      (seen) => podCondition(seen, 'ContainersReady')?.status === 'True',
    );
    assert.equal(podCondition(pod, 'Ready')?.reason, 'ReadinessGatesNotReady');
    const set = async (condition: object) => {
      const path = '/api/v1/namespaces/default/pods/gated/status';
      const headers = { 'content-type': 'application/strategic-merge-patch+json' };
      const body = { status: { conditions: [condition] } };
      assert.equal((await node.server.call('PATCH', path, body, { headers })).status, 200);
    };
    await set({ type: 'a.example/b', status: 'True' });
    await node.waitFor('gated', isReady);
    await set({ type: 'a.example/b', status: 'False' });
    const taken = await node.waitFor('gated', (seen) => !isReady(seen));
    assert.equal(podCondition(taken, 'a.example/b')?.status, 'False');
    // The condition DisruptionTarget of another component can be withdrawn by that component.
    await set({ type: 'DisruptionTarget', status: 'True', reason: 'EvictionByEvictionAPI' });
    await set({ type: 'a.example/b', status: 'True' });
    await node.waitFor('gated', isReady);
    await set({ type: 'DisruptionTarget', status: 'False' });
    await set({ type: 'a.example/b', status: 'False' });
    const last = await node.waitFor('gated', (seen) => !isReady(seen));
    assert.equal(podCondition(last, 'DisruptionTarget')?.status, 'False');
  });

  it('restarts a container whose image changed, also with the restart policy Never', async () => {
    node.start();
    await ready();
    await node.createPod('once', { restartPolicy: 'Never', containers: [main()] });
    const before = await node.waitFor('once', isReady);
    const path = '/api/v1/namespaces/default/pods/once';
    const body = { spec: { containers: [{ name: 'main', image: 'app:2' }] } };
    const headers = { 'content-type': 'application/strategic-merge-patch+json' };
    assert.equal((await node.server.call('PATCH', path, body, { headers })).status, 200);
    const after = await node.waitFor(
      'once',
      (pod) => isReady(pod) && pod.status?.containerStatuses?.[0]?.image === 'app:2',
    );
    assert.equal(after.status?.phase, 'Running');
    assert.equal(after.status?.containerStatuses?.[0]?.restartCount, 1);
    assert.equal(after.status?.podIP, before.status?.podIP);
  });
});
