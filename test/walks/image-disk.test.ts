/** A node whose disk for images is too small for an image, and is then filled by a container. */
import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { CoreV1EventList, V1Container, V1Node, V1Pod } from '@kubernetes/client-node';
import { defaultImageThresholds } from '../../src/kubelet/images/plan/images-to-free.ts';
import { defaultEvictionHard } from '../../src/kubelet/node/plan/eviction-thresholds.ts';
import { Cluster } from '../e2e/harness/cluster.ts';
import { isReady } from '../e2e/harness/hello.ts';
import { Host } from '../e2e/harness/host.ts';
import { helloImage } from '../e2e/harness/images.ts';
import { waitFor } from '../e2e/harness/wait-for.ts';
import { pushImage } from '../fixtures/pushed-image.ts';
import { startRegistry } from '../fixtures/registry.ts';

const MB = 2 ** 20;
const slowly = { timeoutMs: 120_000, intervalMs: 300 };

test('a node handles a full disk of images', async (context) => {
  const host = await Host.start(context, {
    dockerDisk: '300m',
    dockerFlags: ['--insecure-registry=198.18.0.0/15'],
  });
  const registry = await startRegistry({ ip: host.gateway, isOpen: true });
  context.after(() => registry.stop());
  const image = (name: string) => `${registry.address}/${name}:1`;
  await pushImage(image('small'), 90 * MB);
  await pushImage(image('large'), 230 * MB);
  const cluster = await Cluster.start(context, {
    host,
    flags: [
      '--heartbeat-interval=1s',
      '--image-minimum-gc-age=0s',
      `--eviction-hard=${defaultEvictionHard}`,
      `--image-gc-high-threshold=${defaultImageThresholds.highPercent}`,
    ],
  });
  const { kubectl } = cluster;
  const create = async (name: string, container: Partial<V1Container>) => {
    const input = JSON.stringify({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name },
      spec: { terminationGracePeriodSeconds: 0, containers: [{ name: 'main', ...container }] },
    });
    const { code, stderr } = await kubectl.attempt(['create', '-f', '-'], { input });
    assert.equal(code, 0, stderr);
  };
  const read = (name: string) => kubectl.json<V1Pod>('get', 'pod', name);
  const until = (name: string, what: string, is: (pod: V1Pod) => boolean) =>
    waitFor(
      `${name} ${what}`,
      async () => {
        const pod = await read(name);
        return is(pod) && pod;
      },
      slowly,
    );
  const waitingOf = ({ status }: V1Pod) => status?.containerStatuses?.[0]?.state?.waiting;
  const eventsOf = async (name: string) =>
    (await kubectl.json<CoreV1EventList>('get', 'events', '--field-selector', `involvedObject.name=${name}`))
      .items;
  const pressure = async () => {
    const { status } = await kubectl.json<V1Node>('get', 'node', cluster.nodeName);
    return status?.conditions?.find(({ type }) => type === 'DiskPressure')?.status;
  };
  const hasImage = async (name: string) => (await host.docker('images', '-q', image(name))) !== '';
  const filler = join(host.dockerData, 'filler');

  await context.test('a pod whose image does not fit on the disk reports that once, and waits', async () => {
    await create('before', { image: image('small') });
    await until('before', 'is ready', isReady);
    await host.run('fallocate', '-l', String(50 * MB), filler);
    await create('large', { image: image('large') });
    const failed = await until('large', 'failed', (pod) =>
      /^(ErrImagePull|ImagePullBackOff)$/.test(waitingOf(pod)?.reason ?? ''),
    );
    assert.match(waitingOf(failed)?.message ?? '', /no space left on device/);
    await until('large', 'backs off', (pod) => waitingOf(pod)?.reason === 'ImagePullBackOff');
    const events = await eventsOf('large');
    const about = (text: RegExp) => events.filter(({ message = '' }) => text.test(message));
    for (const text of [/no space left on device/, /^Error: ErrImagePull$/, /^Error: ImagePullBackOff$/])
      assert.equal(about(text).length, 1, `${text}: ${JSON.stringify(events)}`);
  });

  await context.test('the node reports the shortage, and frees images that no pod uses', async () => {
    await kubectl('delete', 'pod', 'before', '--wait=true', '--timeout=30s');
    await host.run('fallocate', '-l', String(190 * MB), filler);
    await waitFor('the pressure', async () => (await pressure()) === 'True', slowly);
    await waitFor('the removal of the image', async () => !(await hasImage('small')), slowly);
    assert.ok(
      await host.docker('images', '-q', helloImage),
      'an image that the node did not pull for a pod stays',
    );
  });

  await context.test('the waiting pod starts when the disk has room again', async () => {
    rmSync(filler);
    await until('large', 'is ready', isReady);
  });

  await context.test(
    'a container that fills the disk is ended, its space is freed, and no other container is ended',
    async () => {
      const command = ['sh', '-c', 'dd if=/dev/zero of=/fills bs=1M count=400; sleep 1000'];
      const input = JSON.stringify({
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: { name: 'fills' },
        // The node accepts no new pods so soon after the shortage.
        spec: {
          terminationGracePeriodSeconds: 0,
          nodeName: cluster.nodeName,
          tolerations: [{ operator: 'Exists' }],
          containers: [{ name: 'main', image: helloImage, command }],
        },
      });
      const { code, stderr } = await kubectl.attempt(['create', '-f', '-'], { input });
      assert.equal(code, 0, stderr);
      const evicted = await until('fills', 'is evicted', ({ status }) => status?.phase === 'Failed');
      assert.equal(evicted.status?.reason, 'Evicted');
      const told = (await eventsOf('fills')).filter(({ reason }) => reason === 'Evicted');
      assert.deepEqual(
        told.map(({ count }) => count),
        [1],
      );
      const left = async () =>
        Number((await host.run('df', '--output=avail', '-k', host.dockerData)).split('\n')[1]) * 1024;
      await waitFor('the freed space', async () => (await left()) > 40 * MB, {
        ...slowly,
        timeoutMs: 20_000,
      });
      // Waits for several heartbeats.
      await new Promise((resolve) => setTimeout(resolve, 4000));
      const large = await read('large');
      assert.ok(isReady(large), JSON.stringify(large.status));
      assert.match(JSON.stringify((await read('fills')).status?.containerStatuses), /"terminated"/);
    },
  );
});
