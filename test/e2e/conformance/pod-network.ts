/**
 * Kubernetes' own conformance tests of the pod network, step by step. For the list see
 * docs/conformance-network.md.
 */
import assert from 'node:assert/strict';
import { type V1EndpointSlice, type V1Node, Watch } from '@kubernetes/client-node';
import { waitFor } from '../harness/wait-for.ts';
import {
  addressOf,
  containersServing,
  type Line,
  line,
  nameOf,
  type TestNamespace,
  tcp,
  udp,
} from './test-namespace.ts';

const [httpPort, udpPort] = [8083, 8081];

/**
 * A server on every node, and one pod that sends requests to all of them, including the server of its own
 * node.
 */
async function granular(space: TestNamespace, protocol: 'http' | 'udp', hostNetwork: boolean) {
  const [first] = space.cluster.nodes;
  const [servers, client] = await Promise.all([
    Promise.all(
      space.cluster.nodes.map(({ name }, index) =>
        space.pod(`netserver-${index}`, {
          serves: [`tcp:${httpPort}`, `udp:${udpPort}`],
          spec: { nodeName: name },
        }),
      ),
    ),
    space.pod('client', { spec: { nodeName: first?.name ?? '', hostNetwork } }),
  ]);
  assert.equal(servers.length, 2);
  if (hostNetwork) assert.equal(addressOf(client), first?.host.address);
  for (const server of servers) {
    const address = addressOf(server);
    const target = protocol === 'http' ? tcp(address, httpPort) : udp(address, udpPort);
    await space.reaches('client', target, [nameOf(server)]);
  }
}

/** A Service without a selector, whose slices another client owns; the test creates `slices`. */
async function customSlices(space: TestNamespace, slices: readonly (readonly [string, string, number])[]) {
  const ports = [80, 81].map((port) => ({ name: `port${port}`, port, protocol: 'TCP' }));
  const { spec } = await space.service('example-custom-endpoints', { ports });
  for (const [ip, name, port] of slices) {
    const labels = {
      'kubernetes.io/service-name': 'example-custom-endpoints',
      'endpointslice.kubernetes.io/managed-by': `e2e-test${space.name}`,
    };
    const body = {
      metadata: { generateName: 'e2e-custom-slice', labels },
      addressType: 'IPv4',
      endpoints: [{ addresses: [ip], conditions: { ready: true } }],
      ports: [{ name, port, protocol: 'TCP' }],
    };
    await space.slices.createNamespacedEndpointSlice({ namespace: space.name, body });
  }
  await space.pod('pause-pod-0');
  return spec?.clusterIP ?? '';
}

export const podNetworkLines: readonly Line[] = [
  line('Conformance Tests should have at least two untainted nodes', async ({ core }) => {
    const usable = ({ spec, status }: V1Node) =>
      spec?.unschedulable !== true &&
      !spec?.taints?.some(({ effect }) => effect === 'NoSchedule' || effect === 'NoExecute') &&
      status?.conditions?.some(({ type, status: value }) => type === 'Ready' && value === 'True');
    const { items } = await core.listNode();
    assert.ok(items.filter(usable).length >= 2);
  }),

  line('Networking Granular Checks: Pods should function for intra-pod communication: http', (space) =>
    granular(space, 'http', false),
  ),
  line('Networking Granular Checks: Pods should function for intra-pod communication: udp', (space) =>
    granular(space, 'udp', false),
  ),
  line('Networking Granular Checks: Pods should function for node-pod communication: http', (space) =>
    granular(space, 'http', true),
  ),
  line('Networking Granular Checks: Pods should function for node-pod communication: udp', (space) =>
    granular(space, 'udp', true),
  ),

  line(
    'EndpointSlice should support a Service with multiple ports specified in multiple EndpointSlices',
    async (space) => {
      const name = 'pod-handle-http-request';
      const containers = containersServing({ 'serves-8090': ['tcp:8090'], 'serves-9090': ['tcp:9090'] });
      const server = await space.pod(name, { spec: { containers } });
      const host = await customSlices(space, [
        [addressOf(server), 'port80', 8090],
        [addressOf(server), 'port81', 9090],
      ]);
      for (const port of [80, 81]) await space.reaches('pause-pod-0', tcp(host, port), [name]);
    },
  ),
  line(
    'EndpointSlice should support a Service with multiple endpoint IPs specified in multiple EndpointSlices',
    async (space) => {
      const serves = ['tcp:8090'];
      const first = await space.pod('pod1-handle-http-request', { serves });
      const second = await space.pod('pod2-handle-http-request', { serves });
      const host = await customSlices(space, [
        [addressOf(first), 'port80', 8090],
        [addressOf(second), 'port81', 8090],
      ]);
      await space.reaches('pause-pod-0', tcp(host, 80), [nameOf(first)]);
      await space.reaches('pause-pod-0', tcp(host, 81), [nameOf(second)]);
    },
  ),

  line(
    'HostPort validates that there is no conflict between pods with same hostPort but different hostIP and protocol',
    async (space) => {
      const [node] = space.cluster.nodes;
      assert.ok(node);
      const hostPort = 54323;
      const { address } = node.host;
      const serving = (name: string, hostIP: string, protocol: 'TCP' | 'UDP') =>
        space.pod(name, {
          serves: ['tcp:8080', 'udp:8080'],
          ports: [{ hostPort, hostIP, protocol, containerPort: 8080 }],
          spec: { nodeName: node.name },
        });
      await serving('pod1', '127.0.0.1', 'TCP');
      await serving('pod2', address, 'TCP');
      await serving('pod3', address, 'UDP');
      await space.pod('e2e-host-exec', { spec: { hostNetwork: true, nodeName: node.name } });
      const answers = (expected: string, protocol: 'tcp' | 'udp', host: string, ...from: string[]) =>
        waitFor(`${expected} at ${host}`, async () => {
          const command = ['netexec', 'ask', protocol, host, String(hostPort), ...from];
          const answer = await space.run('e2e-host-exec', command);
          if (answer !== expected) throw new Error(`${answer} answered`);
          return true;
        });
      await answers('pod1', 'tcp', '127.0.0.1', address);
      await answers('pod1', 'tcp', '127.0.0.1');
      await answers('pod2', 'tcp', address);
      await answers('pod3', 'udp', address);
    },
  ),

  line('Service endpoints latency should not be very high', async (space, context) => {
    const [total, parallel] = [200, 15];
    const labels = { name: 'svc-latency' };
    await space.pod('svc-latency', { labels });
    const ready = new Map<string, PromiseWithResolvers<void>>();
    const readiness = (service: string) => {
      const known = ready.get(service) ?? Promise.withResolvers<void>();
      ready.set(service, known);
      return known;
    };
    const watch = await new Watch(space.cluster.kubeConfig()).watch(
      `/apis/discovery.k8s.io/v1/namespaces/${space.name}/endpointslices`,
      {},
      (_type: string, { metadata, endpoints }: V1EndpointSlice) => {
        const service = metadata?.labels?.['kubernetes.io/service-name'];
        if (service && endpoints?.some(({ conditions }) => conditions?.ready)) readiness(service).resolve();
      },
      () => undefined,
    );
    const latency = async () => {
      const start = performance.now();
      const body = {
        metadata: { generateName: 'latency-svc-' },
        spec: { selector: labels, ports: [{ protocol: 'TCP', port: 80 }] },
      };
      const { metadata } = await space.core.createNamespacedService({ namespace: space.name, body });
      await readiness(metadata?.name ?? '').promise;
      return performance.now() - start;
    };
    // One request that is not counted: the pod's readiness must have reached every node.
    await latency();
    const latencies: number[] = [];
    let begun = 0;
    const workers = Array.from({ length: parallel }, async () => {
      while (begun++ < total) latencies.push(await latency());
    });
    await Promise.all(workers);
    watch.abort();
    latencies.sort((a, b) => a - b);
    assert.equal(latencies.length, total);
    const [p50 = 0, p90 = 0, p99 = 0] = [0.5, 0.9, 0.99].map((share) => latencies[Math.floor(total * share)]);
    context.diagnostic(
      `endpoints of ${total} Services after ${[p50, p90, p99].map(Math.round).join(', ')} ms (50, 90, 99 %)`,
    );
    assert.ok(p50 <= 20_000, `half of them took longer than ${p50} ms`);
    assert.ok(p99 <= 50_000, `one of a hundred took longer than ${p99} ms`);
  }),
];
