/** A resize with the real engine: the limits that the kernel enforces on a running program. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Pod } from '../../../src/api/core/v1/pod/pod.ts';
import { dockerClient } from '../../../src/docker/client.ts';
import type { ContainerState } from '../../../src/kubelet/runtime/runtime.ts';
import { GroupReader } from '../../../src/kubelet/usage/group-reader.ts';
import { dockerSocket } from '../../fixtures/docker-socket.ts';
import { lockMachine } from '../../fixtures/machine-lock.ts';
import { eventually, isReady, type NodeHarness, startNodeHarness } from './node-harness.ts';

await lockMachine();

const Mi = 2 ** 20;
const strategic = { headers: { 'content-type': 'application/strategic-merge-patch+json' } };

describe('a resize on Docker', { timeout: 300_000 }, () => {
  let node: NodeHarness;
  before(async () => {
    node = await startNodeHarness();
    await node.startAgent({ heartbeatMs: 1000 });
  });
  after(() => node.close());

  const amounts = (cpu: string, memory: string) => ({
    requests: { cpu: '100m', memory: '16Mi' },
    limits: { cpu, memory },
  });
  async function create(name: string, resources: object, script = 'exec sleep 1000'): Promise<void> {
    const image = { image: node.images.busybox, imagePullPolicy: 'IfNotPresent' };
    const container = { name: 'main', ...image, command: ['sh', '-c', script], resources };
    await node.createPod(name, { terminationGracePeriodSeconds: 0, containers: [container] });
    await node.waitFor(name, isReady);
  }
  async function resize(name: string, resources: object): Promise<void> {
    const body = { spec: { containers: [{ name: 'main', resources }] } };
    const path = `/api/v1/namespaces/default/pods/${name}/resize`;
    const answer = await node.server.call('PATCH', path, body, strategic);
    assert.equal(answer.status, 200, answer.text);
  }
  async function containerOf(name: string): Promise<ContainerState> {
    const { uid } = (await node.pod(name)).metadata;
    const all = await Promise.all((await node.runtime.list()).map(({ id }) => node.runtime.inspect(id)));
    const found = all.find(
      (one) => one?.kind === 'container' && one.pod.uid === uid && one.state === 'running',
    );
    return (found as ContainerState) ?? assert.fail(`${name} does not run`);
  }
  const limitOf = ({ status }: Pod, what: string) =>
    status?.containerStatuses?.[0]?.resources?.limits?.[what];

  it('is applied in the kernel, and the program keeps running', async () => {
    await create('web', amounts('500m', '32Mi'));
    const before = await containerOf('web');
    await resize('web', amounts('900m', '64Mi'));
    await node.waitFor('web', (pod) => limitOf(pod, 'memory') === '64Mi' && limitOf(pod, 'cpu') === '900m');
    const after = await containerOf('web');
    assert.deepEqual([after.id, after.pid], [before.id, before.pid]);
    assert.deepEqual(after.resources, { ...before.resources, nanoCpus: 900_000_000, memory: 64 * Mi });
    assert.equal((await new GroupReader().memory(after))?.limit, 64 * Mi);
    await resize('web', amounts('200m', '16Mi'));
    await node.waitFor('web', (pod) => limitOf(pod, 'memory') === '16Mi');
    assert.equal((await new GroupReader().memory(after))?.limit, 16 * Mi);
  });

  it('to less memory than is used waits until less is used', async () => {
    await create(
      'full',
      amounts('500m', '96Mi'),
      'head -c 40000000 /dev/zero >/dev/shm/file; exec sleep 1000',
    );
    const container = await containerOf('full');
    const groups = new GroupReader();
    await eventually(async () => assert.ok(((await groups.memory(container))?.usage ?? 0) > 40_000_000));
    await resize('full', amounts('500m', '32Mi'));
    const told = await node.waitFor(
      'full',
      ({ status }) => status?.conditions?.some(({ reason }) => reason === 'Error') === true,
    );
    const condition = told.status?.conditions?.find(({ type }) => type === 'PodResizeInProgress');
    assert.match(
      condition?.message ?? '',
      /^container main uses \d+ bytes of memory, more than the limit of 33554432$/,
    );
    assert.equal((await containerOf('full')).pid, container.pid, 'the container was not killed');
    const status = await node.runtime.exec(
      container.id,
      { command: ['sh', '-c', ': > /dev/shm/file'], tty: false },
      { stdin: undefined, stdout: undefined, stderr: undefined, sizes: (async function* () {})() },
      new AbortController().signal,
    );
    assert.equal(status, 0);
    await node.waitFor('full', (pod) => limitOf(pod, 'memory') === '32Mi');
    assert.equal((await groups.memory(container))?.limit, 32 * Mi);
  });

  it('may exceed the CPUs of the machine, as an initial limit may', async () => {
    await create('wide', amounts('64', '32Mi'));
    assert.equal((await containerOf('wide')).resources?.nanoCpus, 64e9);
    await resize('wide', amounts('65', '32Mi'));
    await node.waitFor('wide', (pod) => limitOf(pod, 'cpu') === '65');
    const docker = dockerClient(dockerSocket);
    const { HostConfig } = await docker.getContainer((await containerOf('wide')).id).inspect();
    assert.deepEqual([HostConfig.CpuPeriod, HostConfig.CpuQuota], [100_000, 6_500_000]);
  });
});
