/**
 * Endpoints as several versions of kubectl read them, and as users write them for servers outside of the
 * cluster.
 */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type TestContext, test } from 'node:test';
import type { V1EndpointSliceList, V1Endpoints } from '@kubernetes/client-node';
import { systemExec } from '../../src/os/exec.ts';
import { anyKubectl, kubectlsOf } from '../fixtures/kubectls.ts';
import { Cluster } from './harness/cluster.ts';
import { deployHello, readyPods } from './harness/hello.ts';
import { Host } from './harness/host.ts';
import { waitFor } from './harness/wait-for.ts';

/** Starts a server outside of the cluster that answers with its name; resolves to its port. */
async function outside(context: TestContext, address: string, name: string): Promise<number> {
  const server = createServer((_, response) => response.end(name)).listen(0, address);
  context.after(() => void server.close());
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

test('Endpoints exist for pods and masters, and users can write their own', async (context) => {
  const host = await Host.start(context);
  const cluster = await Cluster.start(context, { host });
  const { kubectl } = cluster;
  const apply = (object: object) =>
    systemExec(anyKubectl(), ['--kubeconfig', cluster.kubeconfig, 'apply', '-f', '-'], {
      input: JSON.stringify(object),
    });
  await deployHello(cluster);
  const pods = await readyPods(cluster, 3);
  const listed = await waitFor('the Endpoints of hello', async () => {
    const { subsets } = await kubectl.json<V1Endpoints>('get', 'endpoints', 'hello');
    const ips = subsets?.flatMap(({ addresses = [] }) => addresses.map(({ ip }) => ip)) ?? [];
    return ips.length === 3 && ips;
  });
  assert.deepEqual([...listed].sort(), pods.map(({ status }) => status?.podIP).sort());
  const shown = listed.map((ip) => `${ip}:8080`);

  for (const { version, path } of kubectlsOf(['1.20', '1.27', '1.32', '1.33'])) {
    await context.test(`kubectl ${version} shows Endpoints`, async () => {
      const run = async (...args: string[]) =>
        (await systemExec(path, ['--kubeconfig', cluster.kubeconfig, ...args])).stdout;
      const table = await run('get', 'ep', '--no-headers');
      const rows = table
        .trim()
        .split('\n')
        .map((line) => line.split(/\s+/).slice(0, 2));
      assert.deepEqual(rows, [
        ['hello', shown.join()],
        ['kubernetes', `${host.address}:6443`],
      ]);
      // Newer versions of kubectl read endpoints from EndpointSlices, in which they have no order.
      const line = /^Endpoints: +(.*)$/m.exec(await run('describe', 'service', 'hello'));
      assert.deepEqual(line?.[1]?.split(',').sort(), shown);
      assert.match(
        await run('describe', 'service', 'kubernetes'),
        new RegExp(`^Endpoints: +${host.address}:6443\n`, 'm'),
      );
      const described = await run('describe', 'endpoints', 'hello');
      assert.match(described, new RegExp(`^ +Addresses: +${listed.join()}\n`, 'm'));
      assert.match(described, /^ +http +8080 +TCP\n/m);
    });
  }

  const ports = [
    await outside(context, host.gateway, 'first'),
    await outside(context, host.gateway, 'second'),
  ];
  const external = (port: number | undefined) => ({
    apiVersion: 'v1',
    kind: 'Endpoints',
    metadata: { name: 'external' },
    subsets: [{ addresses: [{ ip: host.gateway }], ports: [{ name: 'http', port }] }],
  });
  const address = async () => {
    const { spec } = await kubectl.json<{ spec: { clusterIP: string } }>('get', 'service', 'external');
    return `${spec.clusterIP}:80`;
  };
  const slices = async () =>
    (
      await kubectl.json<V1EndpointSliceList>(
        'get',
        'endpointslices',
        '-l',
        'kubernetes.io/service-name=external',
      )
    ).items;

  await context.test(
    'a Service without a selector leads to the addresses in its Endpoints, and follows their changes',
    async () => {
      const spec = { ports: [{ name: 'http', port: 80 }] };
      await apply({ apiVersion: 'v1', kind: 'Service', metadata: { name: 'external' }, spec });
      for (const [index, name] of ['first', 'second'].entries()) {
        await apply(external(ports[index]));
        await waitFor(`the page of ${name}`, async () => (await host.page(await address())) === name);
      }
      assert.equal((await slices()).length, 1);
      await kubectl('delete', 'endpoints', 'external');
      await waitFor('no slices', async () => (await slices()).length === 0);
      await waitFor('no pod answers', () =>
        address()
          .then(host.page.bind(host))
          .then(
            () => false,
            () => true,
          ),
      );
    },
  );

  await context.test('a headless Service with Endpoints gives an outside server a name', async () => {
    const spec = { clusterIP: 'None', ports: [{ name: 'http', port: 80 }] };
    await apply({ apiVersion: 'v1', kind: 'Service', metadata: { name: 'named' }, spec });
    await apply({ ...external(ports[0]), metadata: { name: 'named' } });
    const ask = () => host.run('dig', '+short', '@10.96.0.10', 'named.default.svc.cluster.local');
    await waitFor('its address', async () => (await ask()) === host.gateway);
  });

  await context.test('Endpoints are deleted with their Service', async () => {
    await kubectl('delete', 'service', 'hello', 'named');
    await waitFor(
      'only the Endpoints of the masters',
      async () => (await kubectl('get', 'endpoints', '-o', 'name')) === 'endpoints/kubernetes\n',
    );
  });
});
