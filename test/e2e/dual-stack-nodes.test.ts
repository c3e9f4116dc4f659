/** Two nodes of a cluster with ranges of both families: pods, Services and node ports across nodes. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import type { V1Node, V1Pod, V1Service } from '@kubernetes/client-node';
import { helloImage } from './harness/images.ts';
import { MultiCluster } from './harness/multi-cluster.ts';
import { waitFor } from './harness/wait-for.ts';

const ranges = {
  'cluster-cidr': '10.244.0.0/16,fd00:10:244::/56',
  'service-cidr': '10.96.0.0/16,fd00:10:96::/112',
};
const address6 = (number: number) => `2001:db8:1::${number + 1}`;

const podOn = (number: number) => `
apiVersion: v1
kind: Pod
metadata: { name: web-${number}, labels: { app: web } }
spec:
  terminationGracePeriodSeconds: 0
  nodeName: node-${number}
  containers: [{ name: main, image: ${helloImage}, ports: [{ containerPort: 8080 }] }]
---
`;
const service = `
apiVersion: v1
kind: Service
metadata: { name: web }
spec:
  type: NodePort
  ipFamilyPolicy: RequireDualStack
  ipFamilies: [IPv6, IPv4]
  selector: { app: web }
  ports: [{ port: 80, targetPort: 8080, nodePort: 30080 }]
`;

test('pods of two nodes reach one another and their Services over IPv6', async (context) => {
  const masterFlags = Object.entries(ranges).map(([name, value]) => `--${name}=${value}`);
  const cluster = await MultiCluster.start(context, {
    hosts: 2,
    nodes: [],
    masterFlags,
    nodeConfig: ranges,
    images: [helloImage],
  });
  const { kubectl, hosts } = cluster;
  for (const number of [0, 1]) {
    await hosts.at(number).run('ip', 'address', 'add', `${address6(number)}/64`, 'dev', 'eth0', 'nodad');
    await cluster.join(number);
  }
  const file = join(hosts.at(0).directory, 'objects.yaml');
  await hosts.at(0).run('sh', '-c', `cat > ${file} <<'END'\n${podOn(0)}${podOn(1)}${service}END`);
  await kubectl('apply', '-f', file);
  await kubectl('wait', '--for=condition=Ready', 'pod', '--all', '--timeout=60s');
  const podIPs = async (name: string) =>
    ((await kubectl.json<V1Pod>('get', 'pod', name)).status?.podIPs ?? []).map(({ ip = '' }) => ip);
  const page = (address: string, port: number) =>
    `http://${address.includes(':') ? `[${address}]` : address}:${port}/`;
  const fromPod = (number: number, address: string, port: number) =>
    kubectl(
      'exec',
      `web-${number}`,
      '--',
      'timeout',
      '5',
      'wget',
      '-q',
      '-O',
      '-',
      page(address, port),
    ).catch((error: Error) => error.message);
  const fromHost = (number: number, address: string, port: number) =>
    hosts
      .at(number)
      .run('curl', '-sS', '-g', '--max-time', '5', page(address, port))
      .catch((error: Error) => error.message);

  await context.test('each node has a range of each family of its own, and both addresses', async () => {
    const seen = new Set<string>();
    for (const number of [0, 1]) {
      const { spec, status } = await kubectl.json<V1Node>('get', 'node', `node-${number}`);
      assert.equal(spec?.podCIDRs?.length, 2);
      for (const range of spec?.podCIDRs ?? []) seen.add(range);
      const own = (status?.addresses ?? []).filter(({ type }) => type === 'InternalIP');
      assert.deepEqual(
        own.map(({ address }) => address),
        [hosts.at(number).address, address6(number)],
      );
    }
    assert.equal(seen.size, 4);
  });

  await context.test('a pod and a node reach the pods of the other node at both addresses', async () => {
    for (const [here, there] of [
      [0, 1],
      [1, 0],
    ] as const) {
      for (const address of await podIPs(`web-${there}`)) {
        const name = `pod of node ${there} at ${address}, from node ${here}`;
        await waitFor(name, async () => (await fromPod(here, address, 8080)).includes(`web-${there}`));
        assert.match(await fromHost(here, address, 8080), new RegExp(`web-${there}`), name);
      }
    }
  });

  await context.test(
    'a Service leads to the pods of both nodes, at its addresses and at those of the nodes',
    async () => {
      const { clusterIPs = [], clusterIP } =
        (await kubectl.json<V1Service>('get', 'service', 'web')).spec ?? {};
      assert.match(clusterIP ?? '', /^fd00:10:96::/);
      const places = [
        ...clusterIPs.map((ip) => [ip, 80] as const),
        ...[0, 1].map((one) => [address6(one), 30080] as const),
      ];
      for (const [address, port] of places) {
        for (const here of [0, 1]) {
          const left = new Set(['web-0', 'web-1']);
          await waitFor(`both pods at ${address} from node ${here}`, async () => {
            const answer = await fromPod(here, address, port);
            for (const name of left) if (answer.includes(name)) left.delete(name);
            return left.size === 0;
          });
        }
      }
    },
  );
});
