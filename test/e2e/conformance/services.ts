/**
 * Kubernetes' own conformance tests of Services, step by step. For the list see docs/conformance-network.md.
 */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type V1Node, type V1Service, Watch } from '@kubernetes/client-node';
import { waitFor } from '../harness/wait-for.ts';
import { type Line, line, nameOf, type Target, type TestNamespace, tcp, udp } from './test-namespace.ts';

/** Number of requests by which the suite checks that a client keeps its endpoint. */
const affinityCount = 15;
const servePort = 9376;

const internalAddress = ({ status }: V1Node) =>
  status?.addresses?.find(({ type }) => type === 'InternalIP')?.address ?? '';

/**
 * Asserts that all of the pods are reached by the Service's name, its cluster IP and, if it has one, its node
 * port on every node.
 */
async function reachable(space: TestNamespace, name: string, from: string, pods: readonly string[]) {
  const { spec } = await space.core.readNamespacedService({ namespace: space.name, name });
  const [port] = spec?.ports ?? [];
  assert.ok(spec?.clusterIP && port);
  for (const host of [name, spec.clusterIP]) await space.reaches(from, tcp(host, port.port), pods);
  if (port.nodePort === undefined) return;
  const { items: nodes } = await space.core.listNode();
  assert.equal(nodes.length, 2);
  for (const node of nodes) await space.reaches(from, tcp(internalAddress(node), port.nodePort), pods);
}

/**
 * The name becomes an alias of another Service, whose pods are reached by it; the Service keeps no address of
 * its own.
 */
async function becomesAlias(space: TestNamespace, name: string) {
  const pods = (await space.replicas('externalsvc', 2, [`tcp:${servePort}`])).map(nameOf);
  const ports = [{ port: 80, targetPort: servePort }];
  await space.service('externalsvc', { selector: { name: 'externalsvc' }, ports });
  const target = `externalsvc.${space.name}.svc.cluster.local`;
  const changed = await space.updateService(name, (spec) => {
    spec.type = 'ExternalName';
    spec.externalName = target;
  });
  assert.deepEqual([changed.spec?.clusterIP, changed.spec?.clusterIPs], [undefined, undefined]);
  assert.equal(changed.spec?.ports?.[0]?.nodePort, undefined);
  await space.pod('exec');
  await waitFor(`${name} as an alias`, async () => {
    const found = await space.run('exec', ['dig', '+short', '+search', '+tries=1', name, 'CNAME']);
    return found === `${target}.`;
  });
  await space.reaches('exec', tcp(name, 80), pods);
}

async function fromExternalName(space: TestNamespace, type: 'ClusterIP' | 'NodePort') {
  const name = 'externalname-service';
  await space.service(name, { type: 'ExternalName', externalName: 'foo.example.com' });
  const changed = await space.updateService(name, (spec) => {
    spec.type = type;
    delete spec.externalName;
    spec.ports = [{ name: 'http', port: 80, protocol: 'TCP', targetPort: servePort }];
    spec.selector = { name };
  });
  assert.equal(changed.spec?.externalName, undefined);
  assert.equal(changed.spec?.ports?.[0]?.nodePort !== undefined, type === 'NodePort');
  const pods = await space.replicas(name, 2, [`tcp:${servePort}`]);
  await space.pod('exec');
  await reachable(space, name, 'exec', pods.map(nameOf));
}

/** Returns fifteen answers over separate connections. */
const answers = (space: TestNamespace, host: string, port: number) =>
  space.ask('exec', tcp(host, port), affinityCount);

const keeps = (space: TestNamespace, host: string, port: number, kept: boolean) =>
  waitFor(`${kept ? 'one endpoint' : 'several endpoints'} at ${host}:${port}`, async () => {
    const seen = await answers(space, host, port);
    assert.equal(seen.length, affinityCount);
    return (new Set(seen).size === 1) === kept;
  });

async function affinity(space: TestNamespace, type: 'ClusterIP' | 'NodePort', switched: boolean) {
  const name = `affinity-${type.toLowerCase()}`;
  const ports = [{ port: 80, targetPort: servePort }];
  await space.replicas(name, 3, [`tcp:${servePort}`]);
  const { spec } = await space.service(name, {
    type,
    sessionAffinity: 'ClientIP',
    selector: { name },
    ports,
  });
  await space.pod('exec');
  const [node] = (await space.core.listNode()).items;
  const [host, port] =
    type === 'NodePort' && node ? [internalAddress(node), spec?.ports?.[0]?.nodePort] : [spec?.clusterIP, 80];
  assert.ok(host && port);
  if (switched) {
    await space.updateService(name, (changed) => {
      changed.sessionAffinity = 'None';
    });
    await keeps(space, host, port, false);
    await space.updateService(name, (changed) => {
      changed.sessionAffinity = 'ClientIP';
    });
  }
  await keeps(space, host, port, true);
  // An endpoint that was kept by chance would change in one of these requests.
  const [kept] = await answers(space, host, port);
  for (let round = 0; round < 3; round++) {
    assert.deepEqual(new Set(await answers(space, host, port)), new Set([kept]));
  }
}

export const serviceLines: readonly Line[] = [
  line('Services should be able to change the type from ExternalName to ClusterIP', (space) =>
    fromExternalName(space, 'ClusterIP'),
  ),
  line('Services should be able to change the type from ExternalName to NodePort', (space) =>
    fromExternalName(space, 'NodePort'),
  ),
  line('Services should be able to change the type from ClusterIP to ExternalName', async (space) => {
    const ports = [{ port: 80, protocol: 'TCP' }];
    await space.service('clusterip-service', { type: 'ClusterIP', selector: { name: 'nobody' }, ports });
    await becomesAlias(space, 'clusterip-service');
  }),
  line('Services should be able to change the type from NodePort to ExternalName', async (space) => {
    const ports = [{ port: 80, protocol: 'TCP' }];
    const { spec } = await space.service('nodeport-service', { type: 'NodePort', ports });
    const nodePort = spec?.ports?.[0]?.nodePort;
    assert.ok(nodePort);
    await becomesAlias(space, 'nodeport-service');
    // The port is free for another Service.
    await space.service('next', { type: 'NodePort', ports: [{ port: 80, nodePort }] });
  }),
  line('Services should be able to create a functioning NodePort service', async (space) => {
    const name = 'nodeport-test';
    const ports = [{ port: 80, protocol: 'TCP', targetPort: servePort }];
    const { spec } = await space.service(name, { type: 'NodePort', selector: { name }, ports });
    const nodePort = spec?.ports?.[0]?.nodePort ?? 0;
    assert.ok(nodePort >= 30000 && nodePort <= 32767);
    const pods = await space.replicas(name, 2, [`tcp:${servePort}`]);
    await space.pod('exec');
    await reachable(space, name, 'exec', pods.map(nameOf));
  }),
  line('Services should have session affinity work for service with type clusterIP', (space) =>
    affinity(space, 'ClusterIP', false),
  ),
  line('Services should be able to switch session affinity for service with type clusterIP', (space) =>
    affinity(space, 'ClusterIP', true),
  ),
  line('Services should have session affinity work for NodePort service', (space) =>
    affinity(space, 'NodePort', false),
  ),
  line('Services should be able to switch session affinity for NodePort service', (space) =>
    affinity(space, 'NodePort', true),
  ),

  line('Services should serve a basic endpoint from pods', async (space) => {
    const name = 'endpoint-test2';
    const labels = { 'test-basic': 'true' };
    const { spec } = await space.service(name, { selector: labels, ports: [{ port: 80, targetPort: 80 }] });
    await space.endpointsAre(name, {});
    await space.pod('exec');
    const are = async (...pods: readonly string[]) => {
      await space.endpointsAre(name, Object.fromEntries(pods.map((pod) => [pod, [80]])));
      for (const host of [name, spec?.clusterIP ?? '']) await space.reaches('exec', tcp(host, 80), pods);
    };
    await space.pod('pod1', { labels, serves: ['tcp:80'] });
    await are('pod1');
    await space.pod('pod2', { labels, serves: ['tcp:80'] });
    await are('pod1', 'pod2');
    await space.removePod('pod1');
    await are('pod2');
    await space.removePod('pod2');
    await space.endpointsAre(name, {});
    await assert.rejects(space.ask('exec', tcp(spec?.clusterIP ?? '', 80)), /Connection refused/);
  }),

  line('Services should serve multiport endpoints from pods', async (space) => {
    const name = 'multi-endpoint-test';
    const labels = { 'test-multiport': 'true' };
    const { spec } = await space.service(name, {
      selector: labels,
      ports: [
        { name: 'portname1', port: 80, targetPort: 'svc1' },
        { name: 'portname2', port: 81, targetPort: 'svc2' },
      ],
    });
    const host = spec?.clusterIP ?? '';
    const named = (pod: string, port: string, containerPort: number) =>
      space.createPod(pod, {
        labels,
        serves: [`tcp:${containerPort}`],
        ports: [{ name: port, containerPort }],
      });
    await space.endpointsAre(name, {});
    await space.pod('exec');
    await named('pod1', 'svc1', 100);
    await space.endpointsAre(name, { pod1: [100] });
    await space.reaches('exec', tcp(host, 80), ['pod1']);
    await named('pod2', 'svc2', 101);
    await space.endpointsAre(name, { pod1: [100], pod2: [101] });
    await space.reaches('exec', tcp(host, 80), ['pod1']);
    await space.reaches('exec', tcp(host, 81), ['pod2']);
    await space.removePod('pod1');
    await space.endpointsAre(name, { pod2: [101] });
    await space.reaches('exec', tcp(host, 81), ['pod2']);
    await space.removePod('pod2');
    await space.endpointsAre(name, {});
  }),

  line('Services should serve endpoints on same port and different protocols', async (space) => {
    const name = 'multiprotocol-test';
    const labels = { 'multi-protocol': 'true' };
    const port = { port: 80, targetPort: 80 };
    const [byTcp, byUdp] = [
      { ...port, name: 'portname1', protocol: 'TCP' },
      { ...port, name: 'portname2', protocol: 'UDP' },
    ];
    const { spec } = await space.service(name, { selector: labels, ports: [byTcp, byUdp] });
    const host = spec?.clusterIP ?? '';
    await space.endpointsAre(name, {});
    await space.pod('pod1', {
      labels,
      serves: ['tcp:80', 'udp:80'],
      ports: [
        { name: 'portname1', containerPort: 80, protocol: 'TCP' },
        { name: 'portname2', containerPort: 80, protocol: 'UDP' },
      ],
    });
    await space.pod('exec');
    await space.endpointsAre(name, { pod1: [80, 80] });
    const answered = (target: Target) => space.reaches('exec', target, ['pod1']);
    const refused = (target: Target) =>
      waitFor(`no answer by ${target.protocol}`, () =>
        space.ask('exec', target).then(
          () => false,
          (error: Error) => error.message.includes('Connection refused'),
        ),
      );
    const exposes = (exposed: typeof byTcp) =>
      space.updateService(name, (changed) => {
        changed.ports = [exposed];
      });
    const [onTcp, onUdp] = [tcp(host, 80), udp(host, 80)];
    await answered(onTcp);
    await answered(onUdp);
    await exposes(byTcp);
    await refused(onUdp);
    await answered(onTcp);
    await exposes(byUdp);
    await refused(onTcp);
    await answered(onUdp);
  }),

  line(
    'a Service of type LoadBalancer waits for its address, and is served there and at every node',
    async (space) => {
      const name = 'balanced';
      const { kubectl } = space.cluster;
      const pods = (await space.replicas(name, 2, [`tcp:${servePort}`])).map(nameOf);
      const ports = [{ port: 80, targetPort: servePort }];
      // The class of a controller that this cluster does not have.
      const loadBalancerClass = 'example.com/internal-vip';
      await space.service(name, { type: 'LoadBalancer', loadBalancerClass, selector: { name }, ports });
      const row = () => kubectl('-n', space.name, 'get', 'service', name, '--no-headers');
      assert.match(await row(), /^balanced +LoadBalancer +10\.96\.\S+ +<pending> +80:3\d{4}\/TCP /);
      await space.pod('exec');
      await reachable(space, name, 'exec', pods);
      const status = JSON.stringify({ status: { loadBalancer: { ingress: [{ ip: '203.0.113.7' }] } } });
      const patch = ['patch', 'service', name, '--subresource=status', '--type=merge', '-p', status];
      await kubectl('-n', space.name, ...patch);
      assert.match(await row(), / 203\.0\.113\.7 /);
      await space.reaches('exec', tcp('203.0.113.7', 80), pods);
    },
  ),

  line('Services should complete a service status lifecycle', async (space) => {
    const { core, name: namespace } = space;
    const name = 'test-service-life';
    const labels = { 'test-service-static': 'true' };
    const seen: string[] = [];
    const watch = await new Watch(space.cluster.kubeConfig()).watch(
      `/api/v1/namespaces/${namespace}/services`,
      { labelSelector: 'test-service-static=true' },
      (type: string, service: V1Service) => {
        const { status, metadata } = service;
        const address = status?.loadBalancer?.ingress?.[0]?.ip ?? '';
        const condition = status?.conditions?.[0]?.type ?? '';
        seen.push([type, address, condition, metadata?.labels?.service ?? ''].join(' '));
      },
      () => undefined,
    );
    const sees = (event: string) => waitFor(event, () => seen.includes(event));
    const ports = [{ name: 'http', protocol: 'TCP', port: 80, targetPort: 80 }];
    const made = await core.createNamespacedService({
      namespace,
      // The class of a controller that this cluster does not have.
      body: {
        metadata: { name, labels },
        spec: { type: 'LoadBalancer', loadBalancerClass: 'example.com/internal-vip', ports },
      },
    });
    await sees('ADDED   ');
    // No controller assigns an address; the Service has a port on every node.
    assert.equal(JSON.stringify(made.status), '{"loadBalancer":{}}');
    assert.ok(made.spec?.ports?.[0]?.nodePort);
    const all = await core.listServiceForAllNamespaces({ labelSelector: 'test-service-static=true' });
    assert.deepEqual(
      all.items.map(({ metadata }) => metadata?.name),
      [name],
    );
    assert.deepEqual((await core.readNamespacedServiceStatus({ namespace, name })).status, made.status);

    await space.cluster.kubectl(
      ...['-n', namespace, 'patch', 'service', name, '--subresource=status', '--type=merge', '-p'],
      JSON.stringify({
        metadata: { annotations: { patchedstatus: 'true' } },
        status: { loadBalancer: { ingress: [{ ip: '203.0.113.1' }] } },
      }),
    );
    await sees('MODIFIED 203.0.113.1  ');
    const patched = await core.readNamespacedService({ namespace, name });
    assert.equal(patched.metadata?.annotations?.patchedstatus, 'true');
    const condition = {
      ...{ type: 'StatusUpdate', status: 'True', reason: 'E2E', message: 'Set from e2e test' },
      lastTransitionTime: new Date(),
    };
    patched.status = { ...patched.status, conditions: [condition] };
    await core.replaceNamespacedServiceStatus({ namespace, name, body: patched });
    await sees('MODIFIED 203.0.113.1 StatusUpdate ');
    await space.cluster.kubectl('-n', namespace, 'label', 'service', name, 'service=patched');
    await sees('MODIFIED 203.0.113.1 StatusUpdate patched');
    await core.deleteNamespacedService({ namespace, name });
    await sees('DELETED 203.0.113.1 StatusUpdate patched');
    watch.abort();
  }),

  line('Services should delete a collection of services', async ({ core, name: namespace }) => {
    const ports = [{ name: 'http', protocol: 'TCP', port: 80, targetPort: 80 }];
    for (const [name, label, type] of [
      ['e2e-svc-a', 'e2e-with-labels', 'ClusterIP'],
      ['e2e-svc-b', 'e2e-with-labels', 'ClusterIP'],
      ['e2e-svc-c', 'e2e-other', 'ClusterIP'],
    ] as const) {
      const metadata = { name, labels: { label } };
      await core.createNamespacedService({ namespace, body: { metadata, spec: { type, ports } } });
    }
    const left = async () =>
      (await core.listNamespacedService({ namespace })).items.map(({ metadata }) => metadata?.name);
    assert.equal((await left()).length, 3);
    await core.deleteCollectionNamespacedService({ namespace, labelSelector: 'label=e2e-with-labels' });
    assert.deepEqual(await left(), ['e2e-svc-c']);
  }),

  line('Services should find a service from listing all namespaces', async ({ core }) => {
    const { items } = await core.listServiceForAllNamespaces();
    assert.ok(
      items.some(({ metadata }) => metadata?.name === 'kubernetes' && metadata.namespace === 'default'),
    );
  }),

  line('API Server should provide secure master service', async (space) => {
    const master = { namespace: 'default', name: 'kubernetes' };
    const { spec } = await space.core.readNamespacedService(master);
    assert.deepEqual(
      spec?.ports?.map(({ name, port, protocol }) => [name, port, protocol]),
      [['https', 443, 'TCP']],
    );
    // The API server answers at the port on every node, and presents its certificate.
    for (const { host } of space.cluster.nodes) {
      const authority = join(host.directory, 'ca.crt');
      writeFileSync(
        authority,
        Buffer.from(space.cluster.kubeConfig().getCurrentCluster()?.caData ?? '', 'base64'),
      );
      const page = await host.run('curl', '-sS', '--cacert', authority, `https://${spec?.clusterIP}/livez`);
      assert.equal(page, 'ok');
    }
  }),
];
