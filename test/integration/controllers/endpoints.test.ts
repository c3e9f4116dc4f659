/** Endpoints that are derived from slices, and slices that are derived from Endpoints. */
import assert from 'node:assert/strict';
import { after, afterEach, before, describe, it } from 'node:test';
import { type Deployment, deploymentResource } from '../../../src/api/apps/v1/deployment.ts';
import { eventResource } from '../../../src/api/core/v1/event/event.ts';
import { namespaceResource } from '../../../src/api/core/v1/namespace.ts';
import { nodeResource } from '../../../src/api/core/v1/node/node.ts';
import { podResource } from '../../../src/api/core/v1/pod/pod.ts';
import { type Endpoints, endpointsResource } from '../../../src/api/core/v1/service/endpoints.ts';
import { type Service, serviceResource } from '../../../src/api/core/v1/service/service.ts';
import { type EndpointSlice, endpointSliceResource } from '../../../src/api/discovery/v1/endpoint-slice.ts';
import type { Draft, KubeObject } from '../../../src/apimachinery/meta.ts';
import type { ResourceRef } from '../../../src/apimachinery/resource-definition.ts';
import { ifPresent } from '../../../src/controller-runtime/if-present.ts';
import { startTestServer } from '../../fixtures/api-server.ts';
import { type Cluster, startCluster } from './cluster.ts';

const labels = { app: 'web' };

function service(spec: object = { selector: labels }, namespace = 'default'): Draft<Service> {
  const ports = [{ name: 'http', port: 80, targetPort: 8080 }];
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: 'web', namespace, labels: { team: 'a' } },
    spec: { ports, ...spec },
  } as unknown as Draft<Service>;
}

const deployment = (replicas: number) =>
  ({
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'web', namespace: 'default' },
    spec: {
      replicas,
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers: [{ name: 'app', image: 'app:1' }] } },
    },
  }) as unknown as Draft<Deployment>;

const custom = (ip: string, over: object = {}, name = 'web'): Draft<Endpoints> => ({
  apiVersion: 'v1',
  kind: 'Endpoints',
  metadata: { name, namespace: 'default', ...over },
  subsets: [{ addresses: [{ ip }], ports: [{ name: 'http', protocol: 'TCP', port: 8080 }] }],
});

describe('endpoints', () => {
  let cluster: Cluster;
  before(async () => {
    cluster = await startCluster();
    await cluster.addNode('n1');
  });
  after(() => cluster.stop());
  afterEach(async () => {
    cluster.agent.mayBeReady = () => true;
    await clear(deploymentResource);
    await clear(serviceResource);
    await clear(endpointsResource);
    await cluster.eventually('everything is gone', async () => {
      const left = [...(await slices()), ...(await cluster.list(podResource, 'default'))];
      return left.length === 0 && (await endpoints()) === undefined;
    });
  });

  async function clear<T extends KubeObject>(kind: ResourceRef<T>): Promise<void> {
    for (const { metadata } of await cluster.list(kind, 'default')) {
      if (metadata.name !== 'kubernetes')
        await ifPresent(cluster.client.resource(kind).delete(metadata.name, 'default'));
    }
  }

  const services = () => cluster.client.resource(serviceResource);
  const api = () => cluster.client.resource(endpointsResource);
  const endpoints = () => cluster.get(endpointsResource, 'web');
  const slices = async (): Promise<EndpointSlice[]> =>
    (await cluster.list(endpointSliceResource, 'default')).filter(
      ({ metadata }) => metadata.labels?.['kubernetes.io/service-name'] === 'web',
    );
  const addressesOf = (of: Endpoints | undefined) =>
    (of?.subsets ?? []).flatMap(({ addresses = [] }) => addresses.map(({ ip }) => ip));
  const mirrored = async () =>
    (await slices()).filter(({ metadata }) =>
      metadata.labels?.['endpointslice.kubernetes.io/managed-by']?.includes('mirroring'),
    );
  const ready = (count: number) =>
    cluster.eventually(`${count} addresses`, async () => {
      const current = await endpoints();
      return current && addressesOf(current).length === count && current;
    });
  const shows = (...ips: readonly string[]) =>
    cluster.eventually(`slices with ${ips.join()}`, async () => {
      const found = (await slices()).flatMap((slice) => slice.endpoints.flatMap((one) => one.addresses));
      return found.join() === ips.join() && slices();
    });

  it('of a Service have the zone of their node, also when a node is labelled later', async () => {
    await services().create(service({ selector: labels, trafficDistribution: 'PreferClose' }));
    await cluster.client.resource(deploymentResource).create(deployment(1));
    const zones = async () => {
      const all = (await slices()).flatMap((slice) => slice.endpoints);
      return all.map(({ zone, hints }) => [zone, hints?.forZones?.map(({ name }) => name)]);
    };
    const have = (zone: string | undefined, within?: number) =>
      cluster.eventually(
        `the zone ${zone}`,
        async () => {
          const expected = zone === undefined ? [undefined, undefined] : [zone, [zone]];
          return JSON.stringify(await zones()) === JSON.stringify([expected]);
        },
        within,
      );
    const label = (zone: string | null) =>
      cluster.client
        .resource(nodeResource)
        .patch('n1', '', 'merge', { metadata: { labels: { 'topology.kubernetes.io/zone': zone } } });
    await have(undefined);
    // The label itself is the reason, not a later change of the pod.
    await cluster.pass(10_000);
    await label('x');
    await have('x', 100);
    await label(null);
    await have(undefined, 100);
  });

  it('follow the pods of a Service, and are deleted with it', async () => {
    await services().create(service());
    const empty = await cluster.eventually('empty Endpoints', endpoints);
    assert.deepEqual(empty.subsets ?? [], []);
    assert.equal(empty.metadata.labels?.team, 'a');
    await cluster.client.resource(deploymentResource).create(deployment(3));
    const full = await ready(3);
    const pods = await cluster.list(podResource, 'default');
    assert.deepEqual(addressesOf(full).sort(), pods.map(({ status }) => status?.podIP).sort());
    assert.deepEqual(full.subsets?.[0]?.ports, [{ name: 'http', protocol: 'TCP', port: 8080 }]);
    assert.deepEqual(await mirrored(), [], 'what is made from slices is not made into slices again');
    cluster.agent.mayBeReady = () => false;
    await cluster.client.resource(podResource).delete(pods[0]?.metadata.name ?? '', 'default');
    const [gone] = [pods[0]?.status?.podIP ?? ''];
    await cluster.eventually(
      'the terminating pod is removed',
      async () => !addressesOf(await endpoints()).includes(gone),
    );
    await services().delete('web', 'default');
    await cluster.eventually('they are gone', async () => (await endpoints()) === undefined);
  });

  it('are written only when they change, and restored after a foreign write', async () => {
    await services().create(service());
    await cluster.client.resource(deploymentResource).create(deployment(1));
    const stored = await ready(1);
    const [pod] = await cluster.list(podResource, 'default');
    await cluster.edit(podResource, pod?.metadata.name ?? '', (one) => {
      one.metadata.annotations = { note: 'x' };
    });
    await cluster.edit(serviceResource, 'web', (one) => {
      one.metadata.annotations = { note: 'x' };
    });
    // When another Service has its Endpoints, the controller has processed this Service.
    const other = service();
    await services().create({ ...other, metadata: { ...other.metadata, name: 'other' } });
    await cluster.eventually(
      'the other',
      async () => addressesOf(await cluster.get(endpointsResource, 'other')).length === 1,
    );
    assert.deepEqual(await endpoints(), stored);
    await api().patch('web', 'default', 'merge', { subsets: [] });
    const restored = await ready(1);
    assert.deepEqual(restored.subsets, stored.subsets);
    await api().delete('web', 'default');
    await cluster.eventually('they are made again', async () => {
      const again = await endpoints();
      return again && again.metadata.uid !== stored.metadata.uid && addressesOf(again).length === 1;
    });
  });

  it('that a user writes are mirrored to slices, through every change and the deletion', async () => {
    await services().create(service({}));
    const made = await api().create(custom('192.0.2.1', { labels: { mine: 'yes' } }));
    const [slice] = await shows('192.0.2.1');
    assert.equal(slice?.metadata.labels?.mine, 'yes');
    assert.equal(
      slice?.metadata.labels?.['endpointslice.kubernetes.io/managed-by'],
      'endpointslicemirroring-controller.k8s.io',
    );
    assert.deepEqual(
      slice?.metadata.ownerReferences?.map(({ kind, uid, controller }) => [kind, uid, controller]),
      [['Endpoints', made.metadata.uid, true]],
    );
    const { resourceVersion: _, ...metadata } = made.metadata;
    await api().update({ ...custom('192.0.2.2'), metadata: { ...metadata, resourceVersion: '' } });
    const [changed] = await shows('192.0.2.2');
    assert.equal(changed?.metadata.uid, slice?.metadata.uid);
    await cluster.client.resource(endpointSliceResource).delete(changed?.metadata.name ?? '', 'default');
    await cluster.eventually('it is made again', async () => {
      const [again] = await slices();
      return again && again.metadata.uid !== changed?.metadata.uid && again.endpoints.length === 1;
    });
    await api().delete('web', 'default');
    await shows();
  });

  it('that a user writes are mirrored, whether the Service or the Endpoints are created first, and are deleted with the Service', async () => {
    await api().create(custom('192.0.2.1'));
    await services().create(service({}));
    await shows('192.0.2.1');
    await services().delete('web', 'default');
    await shows();
    await cluster.eventually('they are gone', async () => (await endpoints()) === undefined);
  });

  it('with the label skip-mirror are not mirrored, and stop being mirrored when they get it', async () => {
    await services().create(service({}));
    const skip = { labels: { 'endpointslice.kubernetes.io/skip-mirror': 'true' } };
    await api().create(custom('192.0.2.1', skip));
    await api().patch('web', 'default', 'merge', { metadata: { labels: null } });
    await shows('192.0.2.1');
    await api().patch('web', 'default', 'merge', { metadata: skip });
    await shows();
    assert.deepEqual(addressesOf(await endpoints()), ['192.0.2.1']);
  });

  it('of a Service that gets a selector are made from its pods from then on', async () => {
    await services().create(service({}));
    await api().create(custom('192.0.2.1'));
    await shows('192.0.2.1');
    await cluster.client.resource(deploymentResource).create(deployment(1));
    await cluster.edit(serviceResource, 'web', ({ spec }) => {
      spec.selector = labels;
    });
    const pod = await cluster.eventually(
      'a pod with an address',
      async () => (await cluster.list(podResource, 'default'))[0]?.status?.podIP,
    );
    await shows(pod);
    await cluster.eventually('its Endpoints', async () => addressesOf(await endpoints()).join() === pod);
    assert.deepEqual(await mirrored(), []);
  });

  it('of a Service that loses its selector are managed by their next writer', async () => {
    await services().create(service());
    await cluster.client.resource(deploymentResource).create(deployment(1));
    await ready(1);
    await cluster.edit(serviceResource, 'web', ({ spec }) => {
      delete spec.selector;
    });
    await cluster.eventually('they are mirrored', async () => (await mirrored()).length === 1);
    await api().patch('web', 'default', 'merge', { subsets: custom('192.0.2.9').subsets });
    await cluster.eventually('the slice follows', async () =>
      (await mirrored()).some(({ endpoints: [one] }) => one?.addresses[0] === '192.0.2.9'),
    );
    assert.deepEqual(addressesOf(await endpoints()), ['192.0.2.9']);
  });

  it('with more addresses than a slice holds are mirrored in part, with an event', async () => {
    await services().create(service({}));
    const addresses = Array.from({ length: 1001 }, (_, i) => ({ ip: `10.1.${i >> 8}.${i & 255}` }));
    const [subset] = custom('192.0.2.1').subsets ?? [];
    await api().create({ ...custom('192.0.2.1'), subsets: [{ ...subset, addresses }] });
    await cluster.eventually('a full slice', async () => (await slices())[0]?.endpoints.length === 1000);
    await cluster.eventually('an event', async () =>
      (await cluster.list(eventResource, 'default')).find(
        ({ reason, message }) =>
          reason === 'TooManyAddressesToMirror' && message?.endsWith(' 1 addresses were skipped'),
      ),
    );
  });

  it('are deleted with their namespace', async () => {
    const namespaces = cluster.client.resource(namespaceResource);
    await namespaces.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'brief' } });
    const draft = service({ selector: labels }, 'brief');
    const names = Array.from({ length: 20 }, (_, index) => `web-${index}`);
    await Promise.all(
      names.map((name) => services().create({ ...draft, metadata: { ...draft.metadata, name } })),
    );
    // Some of the Endpoints are still being written.
    await namespaces.delete('brief');
    await cluster.eventually(
      'no namespace',
      async () => (await cluster.get(namespaceResource, 'brief')) === undefined,
    );
    assert.deepEqual(await cluster.list(endpointsResource, 'brief'), []);
  });

  it('cause no error and no warning in the log', () => {
    assert.deepEqual([...cluster.log.of('error'), ...cluster.log.of('warn')], []);
  });
});

it('are deleted if their Service was deleted while no controller ran, and kept if they never had a Service', async () => {
  const server = await startTestServer();
  const put = async (path: string, body: object) => {
    const answer = await server.call('POST', `${path}/namespaces/default/${kindOf(body)}`, body);
    assert.equal(answer.status, 201, answer.text);
    return answer.json().metadata;
  };
  const kindOf = (body: object) => ('addressType' in body ? 'endpointslices' : 'endpoints');
  const managed = { labels: { 'endpoints.kubernetes.io/managed-by': 'endpoint-controller' } };
  await put('/api/v1', custom('192.0.2.1', managed, 'made'));
  const { name, uid } = await put('/api/v1', custom('192.0.2.1', {}, 'mirrored'));
  await put('/apis/discovery.k8s.io/v1', {
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: {
      name: 'mirrored-x',
      labels: {
        'kubernetes.io/service-name': name,
        'endpointslice.kubernetes.io/managed-by': 'endpointslicemirroring-controller.k8s.io',
      },
      ownerReferences: [{ apiVersion: 'v1', kind: 'Endpoints', name, uid }],
    },
    addressType: 'IPv4',
  });
  await put('/api/v1', custom('192.0.2.1', {}, 'mine'));
  const cluster = await startCluster({ server });
  try {
    const names = async () =>
      (await cluster.list(endpointsResource, 'default')).map(({ metadata }) => metadata.name).join();
    await cluster.eventually('they are gone', async () => (await names()) === 'kubernetes,mine');
    await cluster.eventually(
      'the slice is deleted too',
      async () => !(await cluster.get(endpointSliceResource, 'mirrored-x')),
    );
    assert.equal(await names(), 'kubernetes,mine');
  } finally {
    await cluster.stop();
  }
});

it('can be created, changed, patched and deleted by a client without a Service', async () => {
  const cluster = await startCluster();
  const api = cluster.client.resource(endpointsResource);
  const stop = new AbortController();
  try {
    const { resourceVersion } = (await api.list({ namespace: 'default' })).metadata;
    const scope = { namespace: 'default', labelSelector: 'static=true' };
    const seen: string[] = [];
    const addresses = ({ subsets = [] }: Endpoints) =>
      subsets.flatMap(({ addresses: list = [], ports = [] }) =>
        list.map(({ ip }) => `${ip}:${ports[0]?.port}`),
      );
    const watching = (async () => {
      for await (const { type, object } of api.watch({ ...scope, resourceVersion, signal: stop.signal })) {
        if (type !== 'BOOKMARK') seen.push(`${type} ${addresses(object)} ${object.metadata.labels?.note}`);
      }
    })();
    const made = await api.create(custom('10.0.0.24', { labels: { static: 'true', note: 'new' } }, 'lone'));
    const labels = { static: 'true', note: 'updated' };
    await api.update({ ...made, metadata: { ...made.metadata, labels } });
    const subsets = [{ addresses: [{ ip: '10.0.0.25' }], ports: [{ name: 'http-test', port: 80 }] }];
    await api.patch('lone', 'default', 'strategic', { metadata: { labels: { note: 'patched' } }, subsets });
    await api.delete('lone', 'default');
    await cluster.eventually('four events', async () => seen.length >= 4);
    assert.deepEqual(seen, [
      'ADDED 10.0.0.24:8080 new',
      'MODIFIED 10.0.0.24:8080 updated',
      'MODIFIED 10.0.0.25:80 patched',
      'DELETED 10.0.0.25:80 patched',
    ]);
    stop.abort();
    await watching;
    assert.equal(
      (await cluster.list(endpointSliceResource, 'default')).length,
      1,
      'only the slice of the masters is left',
    );
  } finally {
    stop.abort();
    await cluster.stop();
  }
});
