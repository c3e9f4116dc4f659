/** Slices and Endpoints that are written for Services, where the cache lags and namespaces terminate. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Pod, podResource } from '../../../../src/api/core/v1/pod/pod.ts';
import { type Endpoints, endpointsResource } from '../../../../src/api/core/v1/service/endpoints.ts';
import { type Service, serviceResource } from '../../../../src/api/core/v1/service/service.ts';
import {
  type EndpointSlice,
  endpointSliceResource,
} from '../../../../src/api/discovery/v1/endpoint-slice.ts';
import type { ObjectMeta } from '../../../../src/apimachinery/meta.ts';
import { newInternalError, newNotFound } from '../../../../src/apimachinery/status-error.ts';
import { verifyAfter } from '../../../../src/controller-runtime/observed-writes.ts';
import { endpointsController } from '../../../../src/controllers/services/endpoints.ts';
import { endpointSliceController } from '../../../../src/controllers/services/endpointslice.ts';
import { at, meta, ownedBy, pod, service } from '../objects.ts';
import { ScriptedWorld } from '../scripted-world.ts';

const key = 'default/web';
const ready = (name: string, ip: string, over: Parameters<typeof pod>[1] = {}) =>
  pod(name, { readyAt: 0, ip, ...over });
const going = { deletionTimestamp: at(1), finalizers: ['example.com/f'] };
const but = (one: Service, over: Partial<ObjectMeta>): Service => ({
  ...one,
  metadata: { ...one.metadata, ...over },
});
const addresses = (world: ScriptedWorld) =>
  world.all(endpointSliceResource).map(({ endpoints }) => endpoints.flatMap((one) => one.addresses).join());

describe('the slices of a Service', () => {
  const start = (one: Service, ...pods: Pod[]) => {
    const world = new ScriptedWorld(endpointSliceController);
    world.put(serviceResource, one);
    for (const each of pods) world.put(podResource, each);
    return world;
  };

  it('contain the pods that the Service selects in its namespace, and are owned by the Service', async () => {
    const world = start(
      service(),
      ready('a', '10.0.0.1'),
      ready('b', '10.0.0.2', { metadata: { labels: { app: 'other' } } }),
      ready('c', '10.0.0.3', { metadata: { namespace: 'elsewhere' } }),
    );
    assert.equal(await world.reconcile(key), undefined);
    assert.deepEqual(addresses(world), ['10.0.0.1']);
    const [slice] = world.all(endpointSliceResource);
    assert.deepEqual(
      slice?.metadata.ownerReferences?.map(({ kind, uid }) => [kind, uid]),
      [['Service', 'uid-web']],
    );
  });

  it('are created once, changed if present, and deleted if there are too many', async () => {
    const world = start(service(), ready('a', '10.0.0.1'));
    await world.reconcile(key);
    assert.deepEqual(await world.reconcile(key), { requeueAfter: verifyAfter });
    world.sync(endpointSliceResource);
    world.put(podResource, ready('b', '10.0.0.2'));
    await world.reconcile(key);
    assert.deepEqual(addresses(world), ['10.0.0.1,10.0.0.2']);
    assert.deepEqual(
      await world.reconcile(key),
      { requeueAfter: verifyAfter },
      'the next reconciliation waits until the cache shows the change',
    );
    world.sync(endpointSliceResource);
    const [slice] = world.all(endpointSliceResource);
    assert.ok(slice);
    world.put(endpointSliceResource, {
      ...slice,
      metadata: { ...slice.metadata, name: 'web-x', uid: 'x' },
      ports: [],
    });
    assert.equal(await world.reconcile(key), undefined);
    assert.deepEqual(world.all(endpointSliceResource), [slice]);
    assert.deepEqual(
      await world.reconcile(key),
      { requeueAfter: verifyAfter },
      'the next reconciliation waits until the cache shows the deletion',
    );
  });

  const none: [string, Service][] = [
    ['without a selector', service({ selector: undefined })],
    ['of another name', service({ type: 'ExternalName' })],
    ['that is being deleted', but(service(), going)],
  ];
  for (const [title, one] of none)
    it(`are not copied for a Service ${title}`, async () => {
      const world = start(one, ready('a', '10.0.0.1'));
      assert.equal(await world.reconcile(key), undefined);
      assert.deepEqual(world.asked, []);
    });

  it('are not copied for a Service that does not exist', async () => {
    assert.equal(await start(service()).reconcile('default/none'), undefined);
  });

  it('lose removed pods even if no further slice can be created', async () => {
    const world = start(service(), ready('a', '10.0.0.1'));
    await world.reconcile(key);
    world.sync(endpointSliceResource);
    world.put(serviceResource, service({}, [{ targetPort: 'http' }]));
    world.refuse = (verb) => (verb === 'create' ? newInternalError('no') : undefined);
    await assert.rejects(world.reconcile(key), /no/);
    assert.deepEqual(addresses(world), []);
  });

  it('cause no error if the namespace is being deleted', async () => {
    const world = start(service(), ready('a', '10.0.0.1'));
    world.refuse = (verb, name) => (verb === 'create' ? newNotFound(endpointSliceResource, name) : undefined);
    assert.equal(await world.reconcile(key), undefined);
    world.refuse = () => undefined;
    assert.equal(await world.reconcile(key), undefined);
    assert.deepEqual(addresses(world), ['10.0.0.1'], 'it does not wait for what was not made');
  });

  it('are reconciled when a Service, one of its slices, or a pod that it selects changes', async () => {
    const world = start(service());
    world.put(serviceResource, but(service({ selector: { app: 'other' } }), { name: 'other' }));
    world.put(serviceResource, but(service({ selector: {} }), { name: 'bare' }));
    world.put(serviceResource, but(service(), { namespace: 'elsewhere' }));
    assert.deepEqual(world.keysOf(serviceResource, service()), [key]);
    assert.deepEqual(world.keysOf(podResource, ready('a', '10.0.0.1')), [key]);
    await world.reconcile(key);
    const [slice] = world.all(endpointSliceResource);
    assert.ok(slice);
    assert.deepEqual(world.keysOf(endpointSliceResource, slice), [key]);
  });
});

describe('the Endpoints of a Service', () => {
  const slice = (over: Partial<ObjectMeta> = {}): EndpointSlice => ({
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: meta('web-1', {
      labels: {
        'kubernetes.io/service-name': 'web',
        'endpointslice.kubernetes.io/managed-by': 'endpointslice-controller.k8s.io',
      },
      ownerReferences: [ownedBy('Service', 'web')],
      ...over,
    }),
    addressType: 'IPv4',
    endpoints: [{ addresses: ['10.0.0.1'], conditions: { ready: true } }],
    ports: [{ name: '', protocol: 'TCP', port: 8080 }],
  });
  const start = (
    one: Service | undefined,
    slices: readonly EndpointSlice[] = [slice()],
    existing?: Endpoints,
  ) => {
    const world = new ScriptedWorld(endpointsController);
    if (one) world.put(serviceResource, one);
    for (const each of slices) world.put(endpointSliceResource, each);
    if (existing) world.put(endpointsResource, existing);
    return world;
  };
  const ours = { 'endpoints.kubernetes.io/managed-by': 'endpoint-controller' };
  const endpoints = (over: Partial<ObjectMeta> = {}): Endpoints => ({
    apiVersion: 'v1',
    kind: 'Endpoints',
    metadata: meta('web', { labels: ours, ...over }),
    subsets: [],
  });
  const ips = (world: ScriptedWorld) =>
    world
      .stored(endpointsResource, key)
      ?.subsets?.flatMap(({ addresses: list = [] }) => list.map(({ ip }) => ip));

  it('are created from its slices, updated, and then skipped until the cache shows the write', async () => {
    const world = start(service());
    assert.equal(await world.reconcile(key), undefined);
    assert.deepEqual(ips(world), ['10.0.0.1']);
    assert.deepEqual(await world.reconcile(key), { requeueAfter: verifyAfter });
    world.sync(endpointsResource);
    assert.equal(await world.reconcile(key), undefined);
    const more = {
      ...slice(),
      endpoints: [...slice().endpoints, { addresses: ['10.0.0.2'], conditions: {} }],
    };
    world.put(endpointSliceResource, more);
    await world.reconcile(key);
    assert.deepEqual(ips(world), ['10.0.0.1', '10.0.0.2']);
    assert.deepEqual(await world.reconcile(key), { requeueAfter: verifyAfter });
  });

  const untouched: [string, Service | undefined, EndpointSlice[], Endpoints | undefined][] = [
    ['a Service without a selector', service({ selector: undefined }), [slice()], endpoints()],
    ['a Service of another name', service({ type: 'ExternalName' }), [slice()], endpoints()],
    ['a Service that is being deleted', but(service(), going), [slice()], endpoints()],
    ['a Service without slices yet', service(), [], undefined],
    [
      'a Service with slices of an earlier Service',
      service(),
      [slice({ ownerReferences: [ownedBy('Service', 'former')] })],
      endpoints(),
    ],
    ['a Service whose Endpoints are being deleted', service(), [slice()], endpoints(going)],
    ['no Service, written by a user', undefined, [], endpoints({ labels: {} })],
    ['no Service, if there are none', undefined, [slice()], undefined],
  ];
  for (const [title, one, slices, existing] of untouched)
    it(`are unchanged for ${title}`, async () => {
      const world = start(one, slices, existing);
      assert.equal(await world.reconcile(key), undefined);
      assert.deepEqual(world.asked, []);
    });

  it('are deleted with their Service, and the cache is awaited afterwards', async () => {
    const world = start(undefined, [], endpoints());
    assert.equal(await world.reconcile(key), undefined);
    assert.deepEqual(world.names(endpointsResource), []);
    assert.deepEqual(await world.reconcile(key), { requeueAfter: verifyAfter });
  });

  it('are not deleted if another object has their name in the meantime', async () => {
    const world = start(undefined, [], endpoints());
    world.store(endpointsResource, endpoints({ uid: 'later' }));
    await assert.rejects(world.reconcile(key), /another by now/);
  });

  it('cause no error if the namespace is being deleted', async () => {
    const world = start(service());
    world.refuse = (verb, name) => (verb === 'create' ? newNotFound(endpointsResource, name) : undefined);
    assert.equal(await world.reconcile(key), undefined);
    assert.equal(await world.reconcile(key), undefined);
  });

  it('are reconciled when they, the Service or its slices change', () => {
    const world = start(service());
    assert.deepEqual(world.keysOf(serviceResource, service()), [key]);
    assert.deepEqual(world.keysOf(endpointsResource, endpoints()), [key]);
    assert.deepEqual(world.keysOf(endpointSliceResource, slice()), [key]);
  });
});
