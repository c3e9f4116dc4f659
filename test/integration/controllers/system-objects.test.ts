/**
 * The objects that every cluster has from the beginning are recreated after a deletion, whichever master sees
 * it.
 */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { namespaceResource } from '../../../src/api/core/v1/namespace.ts';
import { endpointsResource } from '../../../src/api/core/v1/service/endpoints.ts';
import { serviceResource } from '../../../src/api/core/v1/service/service.ts';
import { endpointSliceResource } from '../../../src/api/discovery/v1/endpoint-slice.ts';
import { flowSchemaResource } from '../../../src/api/flowcontrol/v1/flow-schema.ts';
import { priorityLevelConfigurationResource } from '../../../src/api/flowcontrol/v1/priority-level-configuration.ts';
import type { ResourceRef } from '../../../src/apimachinery/resource-definition.ts';
import {
  arrive,
  endpointsOf,
  firstServer,
  type Master,
  sharedStore,
  startMaster,
  startServer,
} from './masters-world.ts';

/** Returns the result of `probe` once it no longer throws; a little time passes between two attempts. */
async function eventually<T>(probe: () => Promise<T>): Promise<T> {
  for (let passed = 0; passed < 5_000; passed += 5) {
    try {
      return await probe();
    } catch {
      await arrive();
    }
  }
  return probe();
}

describe('the objects of every cluster', () => {
  const masters: Master[] = [];
  let outside: Awaited<ReturnType<typeof startServer>>;
  before(async () => {
    const store = sharedStore();
    await firstServer(store);
    outside = await startServer(store);
    masters.push(await startMaster(store, '192.0.2.11'), await startMaster(store, '192.0.2.12', 7443));
  });
  after(async () => {
    for (const master of masters) await master.stop();
    outside.transport.close();
    await outside.server.stop();
  });

  const services = () => outside.client.resource(serviceResource);
  const api = () => services().get('kubernetes', 'default');
  const isRight = () =>
    eventually(async () => {
      const { spec } = await api();
      assert.deepEqual(
        [spec.clusterIP, spec.type, spec.selector, spec.ports?.map(({ name, port }) => [name, port])],
        ['10.96.0.1', 'ClusterIP', undefined, [['https', 443]]],
      );
    });
  const listsBoth = () =>
    eventually(async () => {
      const [first] = masters as [Master];
      assert.deepEqual(await endpointsOf(first), ['192.0.2.11:6443', '192.0.2.12:7443']);
    });

  it('restores the Service of the API, with its address and endpoints', async () => {
    const { uid } = (await api()).metadata;
    await services().delete('kubernetes', 'default');
    const made = await eventually(api);
    assert.notEqual(made.metadata.uid, uid);
    await isRight();
    await listsBoth();
  });

  it('restores the FlowSchemas and priority levels', async () => {
    for (const [ref, name] of [
      [flowSchemaResource, 'exempt'],
      [priorityLevelConfigurationResource, 'catch-all'],
    ] as const) {
      const kind = outside.client.resource(ref as ResourceRef);
      const { uid } = (await kind.get(name)).metadata;
      await kind.delete(name);
      assert.notEqual((await eventually(() => kind.get(name))).metadata.uid, uid);
    }
  });

  it('restores the Service of cluster DNS, with its address and its domain', async () => {
    await services().delete('kube-dns', 'kube-system');
    const { spec, metadata } = await eventually(() => services().get('kube-dns', 'kube-system'));
    assert.equal(spec.clusterIP, '10.96.0.10');
    assert.equal(metadata.annotations?.['minik8s.io/cluster-domain'], 'cluster.local');
  });

  it('keeps changes by other clients to the Service of cluster DNS', async () => {
    const selector = { 'k8s-app': 'kube-dns' };
    await services().patch('kube-dns', 'kube-system', 'merge', { spec: { selector } });
    await services().delete('kubernetes', 'default');
    await isRight();
    assert.deepEqual((await services().get('kube-dns', 'kube-system')).spec.selector, selector);
  });

  it('restores the namespace of the nodes’ leases, and keeps the other namespaces', async () => {
    const namespaces = outside.client.resource(namespaceResource);
    const { uid } = (await namespaces.get('kube-node-lease')).metadata;
    await namespaces.delete('kube-node-lease');
    const going = await namespaces.get('kube-node-lease');
    await outside.server.call('PUT', '/api/v1/namespaces/kube-node-lease/finalize', {
      ...going,
      spec: { finalizers: [] },
    });
    const made = await eventually(async () => {
      const found = await namespaces.get('kube-node-lease');
      assert.notEqual(found.metadata.uid, uid);
      return found;
    });
    assert.equal(made.status?.phase, 'Active');
    for (const name of ['default', 'kube-system', 'kube-public']) {
      await assert.rejects(namespaces.delete(name), /this namespace may not be deleted/);
    }
  });

  for (const [what, patch] of [
    ['a selector', { selector: { app: 'mine' } }],
    ['other ports', { ports: [{ name: 'https', port: 8443 }] }],
    [
      'an additional port',
      {
        ports: [
          { name: 'https', port: 443 },
          { name: 'more', port: 80 },
        ],
      },
    ],
    ['another name of its port', { ports: [{ name: 'api', port: 443 }] }],
    [
      'another type',
      { type: 'ExternalName', externalName: 'evil.example', clusterIP: null, clusterIPs: null },
    ],
  ] as const) {
    it(`repairs the Service of the API when it has ${what}`, async () => {
      const { resourceVersion, uid } = (await api()).metadata;
      const changed = await services().patch('kubernetes', 'default', 'merge', { spec: patch });
      assert.notEqual(changed.metadata.resourceVersion, resourceVersion);
      await isRight();
      assert.equal((await api()).metadata.uid, uid);
    });
  }

  it('creates the Service of the API again when it was created with another address', async () => {
    const { spec } = await api();
    // A client is faster than the masters: the object that then exists differs from the masters' object.
    for (const { link } of masters) link.cut = true;
    await services().delete('kubernetes', 'default');
    const metadata = { name: 'kubernetes', namespace: 'default' };
    const wrong = { ...spec, clusterIP: '10.96.0.77', clusterIPs: ['10.96.0.77'] };
    await services().create({ apiVersion: 'v1', kind: 'Service', metadata, spec: wrong });
    for (const { link } of masters) link.cut = false;
    for (const { clock } of masters) await clock.advance(2_000);
    await isRight();
  });

  it('keeps additions of users to the Service of the API', async () => {
    const spec = { type: 'NodePort', sessionAffinity: 'ClientIP', selector: { app: 'mine' } };
    await services().patch('kubernetes', 'default', 'merge', { metadata: { labels: { a: 'b' } }, spec });
    await eventually(async () => {
      const found = await api();
      assert.equal(found.spec.selector, undefined);
      assert.equal(found.spec.type, 'NodePort');
      assert.equal(found.spec.sessionAffinity, 'ClientIP');
      assert.ok(found.spec.ports?.[0]?.nodePort);
      assert.equal(found.metadata.labels?.a, 'b');
    });
  });

  it('restores the endpoints of the API after any change', async () => {
    const slices = outside.client.resource(endpointSliceResource);
    const endpoints = outside.client.resource(endpointsResource);
    await endpoints.delete('kubernetes', 'default');
    await listsBoth();
    const { items } = await slices.list({ namespace: 'default' });
    for (const { metadata } of items) await slices.delete(metadata.name, 'default');
    await listsBoth();
    await slices.patch('kubernetes', 'default', 'merge', {
      metadata: { labels: { 'kubernetes.io/service-name': null } },
      endpoints: [{ addresses: ['192.0.2.66'] }],
    });
    await listsBoth();
    await slices.create({
      apiVersion: 'discovery.k8s.io/v1',
      kind: 'EndpointSlice',
      metadata: {
        name: 'kubernetes-abcde',
        namespace: 'default',
        labels: {
          'kubernetes.io/service-name': 'kubernetes',
          'endpointslice.kubernetes.io/managed-by': 'endpointslice-controller.k8s.io',
        },
      },
      addressType: 'IPv4',
      endpoints: [{ addresses: ['192.0.2.66'], conditions: {} }],
      ports: [{ name: 'https', protocol: 'TCP', port: 6443 }],
    });
    await listsBoth();
  });
});
