/**
 * An image that only one machine has, on two machines without a registry: it is loaded through the API, a pod
 * on the other machine runs it, and a machine that joins later gets it from the first.
 */
import assert from 'node:assert/strict';
import { cp, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import type { CoreV1EventList, V1Pod } from '@kubernetes/client-node';
import { importImage } from '../fixtures/image-root.ts';
import { executable } from './harness/cluster.ts';
import { isReady } from './harness/hello.ts';
import { MultiCluster } from './harness/multi-cluster.ts';
import { waitFor } from './harness/wait-for.ts';

const image = 'images-test/app:1';

test('an image of one machine reaches the pods of two machines without a registry', async (context) => {
  const cluster = await MultiCluster.start(context, { hosts: 2, nodes: [0] });
  const { kubectl, hosts, kubeconfig } = cluster;
  const [first, second] = [hosts.at(0), hosts.at(1)];
  const ctl = (...args: string[]) =>
    first.run(
      ...(['env', `DOCKER_HOST=unix://${first.dockerSocket}`, executable, 'ctl'] as const),
      ...[...args, '--kubeconfig', kubeconfig],
    );
  const make = async (text: string) => {
    const root = await mkdtemp(join(tmpdir(), 'minik8s-app-'));
    try {
      await mkdir(join(root, 'bin'));
      await cp('/bin/busybox', join(root, 'bin/busybox'), { dereference: true });
      await symlink('busybox', join(root, 'bin/sh'));
      await writeFile(join(root, 'text'), `${text}\n`);
      await importImage(root, image, ['CMD ["/bin/sh"]'], first.dockerSocket);
    } finally {
      await rm(root, { recursive: true, force: true });
    }
  };
  const start = async (name: string, nodeName: string, imagePullPolicy = 'IfNotPresent') => {
    const command = ['/bin/busybox', 'sh', '-c', '/bin/busybox cat /text; exec /bin/busybox sleep 1000'];
    const containers = [{ name: 'app', image, imagePullPolicy, command }];
    const spec = { nodeName, terminationGracePeriodSeconds: 0, containers };
    const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { name }, spec };
    const { code, stderr } = await kubectl.attempt(['create', '-f', '-'], { input: JSON.stringify(pod) });
    assert.equal(code, 0, stderr);
  };
  const ready = (name: string) =>
    waitFor(`pod ${name}`, async () => isReady(await kubectl.json<V1Pod>('get', 'pod', name)));
  const prints = (name: string, text: string) =>
    waitFor(`the log of ${name}`, async () => (await kubectl('logs', name)).startsWith(text));
  const said = async (name: string) => {
    const { items } = await kubectl.json<CoreV1EventList>('get', 'events');
    return items
      .filter(({ involvedObject }) => involvedObject.name === name)
      .map(({ message }) => message)
      .join('\n');
  };

  await context.test(
    'ctl image load uploads the image to the master, and a second load uploads nothing',
    async () => {
      await make('one');
      const loaded = await ctl('image', 'load', image);
      assert.match(loaded, /^image images-test\/app:1 loaded \(sha256:[0-9a-f]{64}, [\d.]+MB\)$/m);
      assert.match(await ctl('image', 'load', image), /^image images-test\/app:1 is held already /m);
      assert.match(await ctl('image', 'ls'), /^images-test\/app:1 +sha256:[0-9a-f]{12} +[\d.]+MB +<none> /m);
    },
  );

  await context.test(
    'a machine that joins later runs the image, and an event of the pod names the source',
    async () => {
      await cluster.join(1);
      await start('late', 'node-1');
      await ready('late');
      await prints('late', 'one');
      assert.match(
        await said('late'),
        /^Successfully got image "images-test\/app:1" of the cluster \(sha256:\w+\) from the master in /m,
      );
      assert.match(await ctl('image', 'ls'), /^images-test\/app:1 .* node-1 /m);
      assert.match(await second.docker('images'), /^minik8s-held +sha256-/m);
    },
  );

  await context.test(
    'a node gets the image from the other node, also with the pull policy Never',
    async () => {
      await first.docker('rmi', image);
      await start('near', 'node-0', 'Never');
      await ready('near');
      assert.match(await said('near'), / from node node-1 in /);
      assert.match(await ctl('image', 'ls'), /^images-test\/app:1 .* node-0,node-1 /m);
    },
  );

  await context.test('new pods run the new content of a name', async () => {
    await make('two');
    assert.match(await ctl('image', 'load', image), / loaded /);
    await start('newer', 'node-1');
    await ready('newer');
    await prints('newer', 'two');
    await prints('late', 'one');
  });

  await context.test(
    'with the pull policy Always a node pulls from the registry, and the event names the policy that would help',
    async () => {
      await start('always', 'node-1', 'Always');
      await waitFor('the failed pull', async () => (await said('always')).includes('Failed to pull image'));
      assert.match(
        await said('always'),
        /the cluster holds an image of this name, which pods with imagePullPolicy IfNotPresent get/,
      );
    },
  );

  await context.test('ctl image rm removes the image from the cluster, and its pods continue', async () => {
    assert.equal(await ctl('image', 'rm', image), 'image images-test/app:1 removed');
    await assert.rejects(ctl('image', 'rm', image), /the cluster holds no image images-test\/app:1/);
    await prints('newer', 'two');
    await start('without', 'node-1', 'Never');
    await waitFor('the missing image', async () =>
      (await said('without')).includes('is not present with pull policy of Never'),
    );
  });
});
