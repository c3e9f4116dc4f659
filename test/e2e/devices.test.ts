/** Pods with devices of their node: device files, and devices of a device plugin. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { V1Node, V1Pod } from '@kubernetes/client-node';
import { isAtLeast } from '../../src/docker/api-version.ts';
import { dockerClient } from '../../src/docker/client.ts';
import { RunningPlugin, unlessGo } from '../fixtures/device-plugin.ts';
import { cardsHere, makeSmiImage } from '../fixtures/nvidia-card.ts';
import { makeDirectory } from './harness/belongings.ts';
import { Cluster } from './harness/cluster.ts';
import { Host } from './harness/host.ts';
import { waitFor } from './harness/wait-for.ts';

const gpu = 'example.com/gpu';

test('pods get devices of their node', async (context) => {
  const host = await Host.start(context);
  const dev = join(host.directory, 'dev');
  mkdirSync(dev);
  // Memory devices of the kernel: writes to `full` fail, writes to `zero` succeed.
  for (const [name, minor] of [
    ['gpu0', '7'],
    ['gpu1', '5'],
  ] as const)
    execFileSync('mknod', [join(dev, name), 'c', '1', minor]);
  const cluster = await Cluster.start(context, { host, flags: ['--devices', `${gpu}=${dev}/gpu*`] });
  const { kubectl } = cluster;

  const create = async (
    name: string,
    resource: string,
    count: number,
    command: string | undefined,
    image = 'minik8s/hello:1',
  ) => {
    const container = {
      name: 'main',
      image,
      ...(command !== undefined && { command: ['sh', '-c', command] }),
      resources: { limits: { [resource]: String(count) } },
    };
    const spec = { restartPolicy: 'Never', terminationGracePeriodSeconds: 0, containers: [container] };
    const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { name }, spec };
    await kubectl.attempt(['create', '-f', '-'], { input: JSON.stringify(pod) });
  };
  const read = (name: string) => kubectl.json<V1Pod>('get', 'pod', name);
  const phase = (name: string, wanted: string) =>
    waitFor(`${name} ${wanted}`, async () => {
      const { status } = await read(name);
      if (status?.phase !== wanted) throw new Error(JSON.stringify(status));
      return true;
    });
  const amounts = async (resource: string) => {
    const { status } = await kubectl.json<V1Node>('get', 'node', cluster.nodeName);
    return [status?.capacity?.[resource], status?.allocatable?.[resource]];
  };
  const offers = (resource: string, ...wanted: (string | undefined)[]) =>
    waitFor(`${wanted} of ${resource}`, async () => {
      const found = await amounts(resource);
      if (JSON.stringify(found) !== JSON.stringify(wanted)) throw new Error(JSON.stringify(found));
      return true;
    });

  await context.test('a container has the devices that it requests, and no others', async () => {
    await offers(gpu, '2', '2');
    await create('one', gpu, 1, `ls ${dev}; echo x > ${dev}/gpu0 || echo full; sleep 600`);
    await phase('one', 'Running');
    // Two outputs, in undefined order.
    const said = await waitFor('its words', async () => {
      const text = await kubectl('logs', 'one');
      return /^full$/m.test(text) && /No space left on device/.test(text) && text;
    });
    assert.match(said, /^gpu0$/m);
    assert.doesNotMatch(said, /gpu1/);
    await create('two', gpu, 1, `echo x > ${dev}/gpu1 && ls ${dev}`);
    await phase('two', 'Succeeded');
    assert.equal(await kubectl('logs', 'two'), 'gpu1\n');
  });

  const what =
    cardsHere.length > 0 ? "a card of NVIDIA's" : 'a made device (there is no card of NVIDIA here)';
  await context.test(`${what} is offered, and a container can open its device`, async (inner) => {
    const isCard = cardsHere.length > 0;
    const [resource, files] = isCard ? ['nvidia.com/gpu', '/dev/nvidia[0-9]*'] : [gpu, `${dev}/gpu*`];
    const count = String(isCard ? cardsHere.length : 2);
    await offers(resource, count, count);
    const opened = `for file in ${files}; do dd if=$file count=0 2>/dev/null && echo $file; done`;
    await create('opens', resource, 1, opened);
    await phase('opens', 'Succeeded');
    const said = (await kubectl('logs', 'opens')).trim().split('\n');
    const expected = isCard ? cardsHere.map(({ minor }) => `/dev/nvidia${minor}`) : [`${dev}/gpu1`];
    assert.equal(said.length, 1, said.join(' '));
    assert.ok(expected.includes(said[0] ?? ''), said.join(' '));
    if (!isCard) return;
    const image = 'minik8s-test/nvidia-smi:1';
    if (!(await makeSmiImage(image, host.dockerSocket)))
      return inner.diagnostic('this machine has no nvidia-smi, or no libnvidia-ml');
    await create('smi', resource, 1, undefined, image);
    await phase('smi', 'Succeeded');
    const uuids = [...(await kubectl('logs', 'smi')).matchAll(/UUID: (GPU-[0-9a-f-]+)/g)].map(
      ([, id = '']) => id,
    );
    assert.equal(uuids.length, 1, uuids.join(' '));
    assert.ok(cardsHere.some(({ uuid }) => uuid === uuids[0]));
  });

  await context.test(
    'a pod that requests more devices than are free waits, and runs when enough are free',
    async () => {
      await create('both', gpu, 2, `ls ${dev}`);
      await waitFor('the shortage of devices is reported', async () => {
        const { status } = await read('both');
        return status?.conditions?.some(({ message }) => message?.includes(`Insufficient ${gpu}`));
      });
      await kubectl('delete', 'pod', 'one', '--wait=true', '--timeout=30s');
      await phase('both', 'Succeeded');
      assert.equal(await kubectl('logs', 'both'), 'gpu0\ngpu1\n');
    },
  );

  await context.test(
    'a device plugin offers its devices, also to an agent that restarts',
    { skip: unlessGo },
    async () => {
      const resource = 'example.com/card';
      const devices = join(makeDirectory('minik8s-device-plugin-'), 'list');
      writeFileSync(devices, 'a Healthy\nb Unhealthy\n');
      const start = () => {
        const plugin = new RunningPlugin({
          directory: cluster.pluginDirectory,
          endpoint: 'card.sock',
          resource,
          devices,
        });
        context.after(() => plugin.end());
        return plugin;
      };
      const plugin = start();
      await offers(resource, '2', '1');
      await create('card', resource, 1, 'echo $TEST_DEVICES; ls /given; test -c /dev/a && sleep 600');
      await phase('card', 'Running');
      await waitFor('its words', async () => (await kubectl('logs', 'card')) === 'a\na\n');
      await plugin.end();
      await offers(resource, '2', '0');
      await cluster.end('SIGKILL');
      await cluster.up();
      assert.deepEqual(await amounts(resource), ['2', '0']);
      start();
      await offers(resource, '2', '1');
      // A container keeps the devices that it had before the restart.
      writeFileSync(devices, 'a Healthy\nb Healthy\n');
      await offers(resource, '2', '2');
      await create('other', resource, 1, 'echo $TEST_DEVICES');
      await phase('other', 'Succeeded');
      assert.equal(await kubectl('logs', 'other'), 'b\n');
      assert.equal((await read('card')).status?.phase, 'Running');
    },
  );

  await context.test(
    'the engine adds a device whose CDI name a plugin answers, or rejects the name',
    { skip: unlessGo },
    async () => {
      // The engine reads such specifications only from fixed places.
      const specification = `/etc/cdi/minik8s-test-${process.pid}.json`;
      context.after(() => rmSync(specification, { force: true }));
      const edits = {
        env: ['GIVEN_BY=cdi'],
        deviceNodes: [{ path: '/dev/card', hostPath: '/dev/null', type: 'c', major: 1, minor: 3 }],
      };
      const devices = [{ name: 'cdi0', containerEdits: edits }];
      mkdirSync('/etc/cdi', { recursive: true });
      writeFileSync(
        specification,
        JSON.stringify({ cdiVersion: '0.5.0', kind: 'test.minik8s.io/card', devices }),
      );
      const resource = 'example.com/named';
      const list = join(makeDirectory('minik8s-device-plugin-'), 'list');
      writeFileSync(list, 'cdi0 Healthy\n');
      const plugin = new RunningPlugin({
        directory: cluster.pluginDirectory,
        endpoint: 'named.sock',
        resource,
        devices: list,
      });
      context.after(() => plugin.end());
      await offers(resource, '1', '1');
      await create('named', resource, 1, 'test -c /dev/card && echo $GIVEN_BY');
      const { ApiVersion } = await dockerClient(host.dockerSocket).version();
      if (isAtLeast(ApiVersion, '1.50')) {
        await phase('named', 'Succeeded');
        assert.equal(await kubectl('logs', 'named'), 'cdi\n');
        return;
      }
      await phase('named', 'Failed');
      const { status } = await read('named');
      assert.match(status?.containerStatuses?.[0]?.state?.terminated?.message ?? '', /device driver "cdi"/);
    },
  );
});
