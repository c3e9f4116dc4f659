/** http_sd targets for nodes, pods and Services, and the users who may read them. */
import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, test } from 'node:test';
import type { Pod } from '../../../../src/api/core/v1/pod/pod.ts';
import { groupsOf } from '../../../../src/kube-apiserver/monitoring/target-lists.ts';
import { startTestServer, type TestServer } from '../../../fixtures/api-server.ts';

interface Group {
  readonly targets: readonly string[];
  readonly labels?: Readonly<Record<string, string>>;
}

const scraper = { name: 'system:serviceaccount:monitoring:prometheus', groups: ['system:authenticated'] };

describe('lists of targets', () => {
  let server: TestServer;
  beforeEach(async () => {
    server = await startTestServer();
  });
  afterEach(() => server.stop());

  const made = async (path: string, body: object) => {
    const answer = await server.call('POST', path, body);
    assert.equal(answer.status, 201, answer.text);
    return answer.json<Pod>();
  };
  const pods = '/api/v1/namespaces/default/pods';
  async function makePod(metadata: { readonly name: string }, container: object, podIP = '10.244.0.5') {
    const spec = { nodeName: 'n1', containers: [{ name: 'main', image: 'i:1', ...container }] };
    const pod = await made(pods, { metadata, spec });
    const ready = { type: 'Ready', status: 'True', lastTransitionTime: '2026-01-01T00:00:00Z' };
    const status = {
      phase: 'Running',
      podIP,
      podIPs: [{ ip: podIP }],
      hostIP: '192.0.2.7',
      conditions: [ready],
    };
    const put = await server.call('PUT', `${pods}/${metadata.name}/status`, { ...pod, status });
    assert.equal(put.status, 200, put.text);
    return pod.metadata.uid;
  }
  const read = async (name: string, user?: typeof scraper) => {
    const answer = await server.call('GET', `/monitoring/http-sd/${name}`, undefined, {
      ...(user && { user }),
    });
    return answer.status === 200 ? answer.json<Group[]>() : answer.status;
  };
  const listed = async (name: string) => {
    const groups = await read(name);
    assert.ok(Array.isArray(groups), String(groups));
    return groups.filter(({ targets }) => targets.length > 0);
  };

  test('a node is at the address of its agent, under its name, with its labels and conditions', async () => {
    const node = await made('/api/v1/nodes', {
      metadata: {
        name: 'n1',
        labels: { 'topology.kubernetes.io/zone': 'a' },
        annotations: { 'x/secret': 'y' },
      },
    });
    assert.deepEqual(await read('nodes'), [{ targets: [] }]);
    await server.call('PUT', '/api/v1/nodes/n1/status', {
      ...node,
      status: {
        addresses: [
          { type: 'Hostname', address: 'n1' },
          { type: 'InternalIP', address: '192.0.2.7' },
        ],
        conditions: [{ type: 'DiskPressure', status: 'False' }],
        daemonEndpoints: { kubeletEndpoint: { Port: 10250 } },
      },
    });
    assert.deepEqual(await read('nodes'), [
      {
        targets: ['192.0.2.7:10250'],
        labels: {
          __meta_kubernetes_node_name: 'n1',
          __meta_kubernetes_node_label_topology_kubernetes_io_zone: 'a',
          __meta_kubernetes_node_labelpresent_topology_kubernetes_io_zone: 'true',
          __meta_kubernetes_node_condition_diskpressure: 'false',
          __meta_kubernetes_node_address_InternalIP: '192.0.2.7',
          __meta_kubernetes_node_address_Hostname: 'n1',
          instance: 'n1',
        },
      },
    ]);
  });

  test('a pod with the annotation and an address is listed, one target a port', async () => {
    await makePod({ name: 'quiet' }, { ports: [{ containerPort: 80, name: 'web' }] });
    const ports = [
      { containerPort: 80, name: 'web' },
      { containerPort: 9100, name: 'metrics', protocol: 'TCP' },
    ];
    const uid = await makePod({ name: 'ported' }, { ports });
    assert.deepEqual(
      (await listed('pods')).map(({ targets }) => targets),
      [['10.244.0.5:80'], ['10.244.0.5:9100']],
    );
    assert.deepEqual((await listed('pods'))[1]?.labels, {
      __meta_kubernetes_namespace: 'default',
      __meta_kubernetes_pod_name: 'ported',
      __meta_kubernetes_pod_uid: uid,
      __meta_kubernetes_pod_ip: '10.244.0.5',
      __meta_kubernetes_pod_host_ip: '192.0.2.7',
      __meta_kubernetes_pod_node_name: 'n1',
      __meta_kubernetes_pod_phase: 'Running',
      __meta_kubernetes_pod_ready: 'true',
      __meta_kubernetes_pod_container_name: 'main',
      __meta_kubernetes_pod_container_image: 'i:1',
      __meta_kubernetes_pod_container_id: '',
      __meta_kubernetes_pod_container_init: 'false',
      __meta_kubernetes_pod_container_port_name: 'metrics',
      __meta_kubernetes_pod_container_port_number: '9100',
      __meta_kubernetes_pod_container_port_protocol: 'TCP',
    });
    await server.call('DELETE', `${pods}/ported?gracePeriodSeconds=0`);
    const annotations = { 'prometheus.io/scrape': 'true', 'prometheus.io/param_a-b': 'c', 'other/one': 'x' };
    const metadata = { name: 'annotated', annotations };
    await makePod(metadata, {}, '2001:db8::5');
    const [group, ...more] = await listed('pods');
    assert.deepEqual([group?.targets, more.length], [['[2001:db8::5]'], 0]);
    assert.deepEqual(
      Object.keys(group?.labels ?? {}).filter((name) => name.includes('annotation_')),
      [
        '__meta_kubernetes_pod_annotation_prometheus_io_scrape',
        '__meta_kubernetes_pod_annotation_prometheus_io_param_a_b',
      ],
    );
  });

  test('an annotated Service is listed by its endpoints, with the labels of their pods', async () => {
    await makePod({ name: 'behind' }, { ports: [{ containerPort: 8080, name: 'web' }] });
    const service = (name: string, annotations: object) =>
      made('/api/v1/namespaces/default/services', {
        metadata: { name, annotations },
        spec: { ports: [{ port: 80 }] },
      });
    await service('quiet', {});
    await service('told', { 'prometheus.io/scrape': 'true' });
    for (const name of ['quiet', 'told']) {
      await made('/apis/discovery.k8s.io/v1/namespaces/default/endpointslices', {
        metadata: { name: `${name}-1`, labels: { 'kubernetes.io/service-name': name } },
        addressType: 'IPv4',
        ports: [{ name: 'web', port: 8080 }],
        endpoints: [
          {
            addresses: ['10.244.0.5'],
            conditions: { ready: true },
            nodeName: 'n1',
            targetRef: { kind: 'Pod', name: 'behind', namespace: 'default' },
          },
        ],
      });
    }
    const groups = await listed('services');
    const of = (service: string) =>
      groups.filter(({ labels }) => labels?.__meta_kubernetes_service_name === service);
    assert.deepEqual(of('quiet'), []);
    // The API servers are targets without an annotation.
    assert.deepEqual(
      of('kubernetes').map(({ targets, labels }) => [
        targets,
        labels?.__meta_kubernetes_endpointslice_port_name,
      ]),
      [[['192.0.2.10:6443'], 'https']],
    );
    const [told] = of('told');
    assert.deepEqual(told?.targets, ['10.244.0.5:8080']);
    const expected = {
      __meta_kubernetes_namespace: 'default',
      __meta_kubernetes_service_annotation_prometheus_io_scrape: 'true',
      __meta_kubernetes_endpointslice_name: 'told-1',
      __meta_kubernetes_endpointslice_port: '8080',
      __meta_kubernetes_endpointslice_endpoint_conditions_ready: 'true',
      __meta_kubernetes_endpointslice_endpoint_node_name: 'n1',
      __meta_kubernetes_endpointslice_address_target_kind: 'Pod',
      __meta_kubernetes_endpointslice_address_target_name: 'behind',
      __meta_kubernetes_pod_name: 'behind',
      __meta_kubernetes_pod_container_port_name: 'web',
    };
    for (const [name, value] of Object.entries(expected)) assert.equal(told?.labels?.[name], value, name);
  });

  test('are shown to users with the right to read their paths', async () => {
    assert.equal(await read('pods', scraper), 403);
    const rbac = '/apis/rbac.authorization.k8s.io/v1';
    await made(`${rbac}/clusterroles`, {
      metadata: { name: 'prometheus' },
      rules: [{ nonResourceURLs: ['/monitoring/http-sd/*'], verbs: ['get'] }],
    });
    await made(`${rbac}/clusterrolebindings`, {
      metadata: { name: 'prometheus' },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'prometheus' },
      subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: scraper.name }],
    });
    assert.deepEqual(await read('pods', scraper), []);
    assert.equal((await server.call('GET', '/monitoring/http-sd/nope')).status, 404);
  });

  test('an object whose targets are too long is left out, and the others are listed', async () => {
    const many = Array.from({ length: 2000 }, (_, i) => ({
      containerPort: i + 1,
      name: i === 0 ? 'metrics' : `p${i}`,
    }));
    const labels = Object.fromEntries(Array.from({ length: 200 }, (_, i) => [`label-${i}`, 'x'.repeat(60)]));
    await makePod({ name: 'huge', ...{ labels } }, { ports: many });
    await makePod({ name: 'usual' }, { ports: [{ containerPort: 1, name: 'metrics' }] });
    const groups = await listed('pods');
    assert.deepEqual(
      groups.map(({ labels: told }) => told?.__meta_kubernetes_pod_name),
      ['usual'],
    );
  });
});

test('a group has the given size, and no more', () => {
  const of = (count: number) => ({
    labels: { a: 'b' },
    targets: Array.from({ length: count }, (_, i) => ({ address: `h${i}`, labels: { c: 'd' } })),
  });
  const one = '{"targets":["h0"],"labels":{"a":"b","c":"d"}}';
  assert.equal(groupsOf(of(0), 0), '{"targets":[]}');
  assert.equal(groupsOf(of(1), one.length), one);
  assert.equal(groupsOf(of(1), one.length - 1), undefined);
  assert.equal(groupsOf(of(2), 2 * one.length), `${one},${one.replace('h0', 'h1')}`);
});
