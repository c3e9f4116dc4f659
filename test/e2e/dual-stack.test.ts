/** A cluster of one node with ranges of both families, from its start to a restart of the agent. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import type { V1EndpointSliceList, V1Node, V1Pod, V1Service } from '@kubernetes/client-node';
import { Cluster, executable } from './harness/cluster.ts';
import { end, Host } from './harness/host.ts';
import { waitFor } from './harness/wait-for.ts';

const address6 = '2001:db8:1::1';
const flags = [
  '--cluster-cidr=10.244.0.0/16,fd00:10:244::/56',
  '--service-cidr=10.96.0.0/16,fd00:10:96::/112',
];

const objects = `
apiVersion: v1
kind: Pod
metadata: { name: web, labels: { app: web } }
spec:
  terminationGracePeriodSeconds: 0
  containers:
    - name: main
      image: minik8s/hello:1
      ports: [{ containerPort: 8080, hostPort: 8085 }]
      env:
        - { name: IPS, valueFrom: { fieldRef: { fieldPath: status.podIPs } } }
        - { name: HOSTS, valueFrom: { fieldRef: { fieldPath: status.hostIPs } } }
---
apiVersion: v1
kind: Pod
metadata: { name: client }
spec:
  terminationGracePeriodSeconds: 0
  containers: [{ name: main, image: minik8s/hello:1, command: [sleep, "3600"] }]
---
apiVersion: v1
kind: Service
metadata: { name: web }
spec:
  type: NodePort
  ipFamilyPolicy: RequireDualStack
  selector: { app: web }
  ports: [{ port: 80, targetPort: 8080, nodePort: 30080 }]
---
apiVersion: v1
kind: Service
metadata: { name: six }
spec:
  ipFamilies: [IPv6]
  selector: { app: web }
  ports: [{ port: 80, targetPort: 8080 }]
---
apiVersion: v1
kind: Service
metadata: { name: headless }
spec:
  clusterIP: None
  ipFamilyPolicy: PreferDualStack
  selector: { app: web }
  ports: [{ port: 8080 }]
`;

const policy = `
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata: { name: closed }
spec:
  podSelector: { matchLabels: { app: web } }
  policyTypes: [Ingress]
  ingress: [{ from: [{ ipBlock: { cidr: 10.0.0.0/8 } }] }]
`;

const isIPv6 = (text = '') => text.includes(':');

test('a node serves pods and Services of both families', async (context) => {
  const host = await Host.start(context);
  await host.run('ip', 'address', 'add', `${address6}/64`, 'dev', 'eth0', 'nodad');
  const cluster = await Cluster.start(context, { host, flags });
  const { kubectl } = cluster;
  const apply = async (name: string, text: string) => {
    const file = join(host.directory, `${name}.yaml`);
    await host.run('sh', '-c', `cat > ${file} <<'END'\n${text}END`);
    await kubectl('apply', '-f', file);
  };
  await apply('objects', objects);
  await kubectl('wait', '--for=condition=Ready', 'pod', '--all', '--timeout=60s');
  const page = (address: string, port: number) =>
    `http://${isIPv6(address) ? `[${address}]` : address}:${port}/`;
  const fromHost = (address: string, port: number) =>
    host
      .run('curl', '-sS', '-g', '--max-time', '3', page(address, port))
      .catch((error: Error) => error.message);
  const inPod = (...command: string[]) =>
    kubectl('exec', 'client', '--', ...command).catch((error: Error) => error.message);
  const fromPod = (address: string, port: number) =>
    inPod('timeout', '5', 'wget', '-q', '-O', '-', page(address, port));
  const podIPs = async (name: string) =>
    ((await kubectl.json<V1Pod>('get', 'pod', name)).status?.podIPs ?? []).map(({ ip }) => ip ?? '');
  const service = async (name: string) => (await kubectl.json<V1Service>('get', 'service', name)).spec;

  await context.test('the node has a range and an address of each family', async () => {
    const { spec, status } = await kubectl.json<V1Node>('get', 'node', cluster.nodeName);
    assert.deepEqual(spec?.podCIDRs, ['10.244.0.0/24', 'fd00:10:244::/64']);
    const own = (status?.addresses ?? []).filter(({ type }) => type === 'InternalIP');
    assert.deepEqual(
      own.map(({ address }) => address),
      [host.address, address6],
    );
  });

  await context.test(
    'a pod has an address of each family, which its programs see and others reach',
    async () => {
      const [four = '', six = ''] = await podIPs('web');
      assert.match(four, /^10\.244\.0\.\d+$/);
      assert.match(six, /^fd00:10:244::[0-9a-f]+$/);
      const shown = await kubectl('exec', 'web', '--', 'sh', '-c', 'echo $IPS $HOSTS; cat /etc/hosts');
      assert.ok(shown.startsWith(`${four},${six} ${host.address},${address6}\n`), shown);
      assert.ok(shown.includes(`${six}\tweb\n`), shown);
      for (const address of [four, six]) {
        assert.match(await fromHost(address, 8080), /web/, `from the node: ${address}`);
        assert.match(await fromPod(address, 8080), /web/, `from a pod: ${address}`);
      }
      for (const address of [host.address, address6])
        assert.match(await fromPod(address, 8085), /web/, 'host port');
    },
  );

  await context.test('a Service is reached at its addresses and node ports of both families', async () => {
    const { clusterIPs = [] } = (await service('web')) ?? {};
    assert.deepEqual(clusterIPs.map(isIPv6), [false, true]);
    for (const address of clusterIPs) {
      await waitFor('the Service', async () => /web/.test(await fromPod(address, 80)));
      assert.match(await fromHost(address, 80), /web/, address);
    }
    for (const address of [host.address, address6])
      assert.match(await fromPod(address, 30080), /web/, address);
    await kubectl('patch', 'service', 'web', '-p', '{"spec":{"sessionAffinity":"ClientIP"}}');
    await waitFor('the affinity', async () =>
      /sticky-10800/.test(await host.run('nft', 'list', 'map', 'ip6', 'minik8s-proxy', 'services')),
    );
    for (const address of clusterIPs) assert.match(await fromPod(address, 80), /web/, address);
    const single = await service('six');
    assert.deepEqual([single?.clusterIPs?.map(isIPv6), single?.ipFamilies], [[true], ['IPv6']]);
    assert.match(await fromPod(single?.clusterIP ?? '', 80), /web/);
  });

  await context.test('slices and names of Services have the addresses of each family', async () => {
    const { items } = await kubectl.json<V1EndpointSliceList>('get', 'endpointslices');
    const of = (name: string) =>
      items
        .filter(({ metadata }) => metadata?.labels?.['kubernetes.io/service-name'] === name)
        .map(
          ({ addressType, endpoints }) =>
            `${addressType} ${(endpoints ?? []).flatMap((one) => one.addresses).join()}`,
        )
        .sort();
    const [four, six] = await podIPs('web');
    assert.deepEqual(of('web'), [`IPv4 ${four}`, `IPv6 ${six}`]);
    assert.deepEqual(of('six'), [`IPv6 ${six}`]);
    const { clusterIPs = [] } = (await service('web')) ?? {};
    const names = await inPod('nslookup', 'web.default.svc.cluster.local');
    for (const address of clusterIPs) assert.ok(names.includes(address), names);
    const headless = await inPod('nslookup', 'headless.default.svc.cluster.local');
    for (const address of [four ?? '', six ?? '']) assert.ok(headless.includes(address), headless);
    assert.match(await fromPod('six.default.svc.cluster.local', 80), /web/);
  });

  await context.test(
    'a Service loses its second address with its policy, and nobody reaches it there',
    async () => {
      const { clusterIPs: [four = '', six = ''] = [] } = (await service('web')) ?? {};
      await kubectl('patch', 'service', 'web', '-p', '{"spec":{"ipFamilyPolicy":"SingleStack"}}');
      assert.deepEqual((await service('web'))?.clusterIPs, [four]);
      await waitFor('the end of the address', async () => !/web/.test(await fromPod(six, 80)));
      assert.match(await fromPod(four, 80), /web/);
    },
  );

  await context.test(
    'pods keep both addresses over a restart of the agent, and policies hold for both',
    async () => {
      const [before, [four = '', six = '']] = [await podIPs('web'), await podIPs('web')];
      await apply('policy', policy);
      await waitFor('the policy', async () => !/web/.test(await fromPod(six, 8080)));
      assert.match(await fromPod(four, 8080), /web/);
      await cluster.end('SIGTERM');
      await cluster.up();
      await kubectl('wait', '--for=condition=Ready', 'pod', '--all', '--timeout=60s');
      assert.deepEqual(await podIPs('web'), before);
      assert.match(await fromPod(four, 8080), /web/);
      assert.doesNotMatch(await fromPod(six, 8080), /web/);
      await kubectl('delete', 'networkpolicy', 'closed');
      await waitFor('the end of the policy', async () => /web/.test(await fromPod(six, 8080)));
    },
  );
});

test('a master with --bind-address :: is reached at the addresses of both families of its machine', async (context) => {
  const host = await Host.start(context, { docker: false });
  await host.run('ip', 'address', 'add', `${address6}/64`, 'dev', 'eth0', 'nodad');
  const dataDir = join(host.directory, 'master');
  const master = host.spawn(executable, ['master', '--data-dir', dataDir, '--bind-address=::', ...flags]);
  host.after(() => end(master, 'SIGTERM'));
  const certificate = join(dataDir, 'pki/ca.crt');
  const read = (url: string) => host.run('curl', '-sS', '-g', '--cacert', certificate, url).catch(String);
  for (const address of ['127.0.0.1', '::1', host.address, address6]) {
    const url = `https://${isIPv6(address) ? `[${address}]` : address}:6443/readyz`;
    await waitFor(`an answer of ${url}`, async () => (await read(url)) === 'ok');
  }
});
