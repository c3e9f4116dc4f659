/**
 * Endpoints that a user wrote, their mirrored slices, and the removal with their Service; the cache may lag.
 */
import assert from 'node:assert/strict';
import { beforeEach, it } from 'node:test';
import { type Endpoints, endpointsResource } from '../../../../src/api/core/v1/service/endpoints.ts';
import { serviceResource } from '../../../../src/api/core/v1/service/service.ts';
import { endpointSliceResource } from '../../../../src/api/discovery/v1/endpoint-slice.ts';
import { newInternalError } from '../../../../src/apimachinery/status-error.ts';
import { verifyAfter } from '../../../../src/controller-runtime/observed-writes.ts';
import { endpointSliceMirroringController } from '../../../../src/controllers/services/endpointslicemirroring.ts';
import { at, meta, service } from '../objects.ts';
import { ScriptedWorld } from '../scripted-world.ts';

const key = 'default/web';
let world: ScriptedWorld;
const bare = service({ selector: undefined });
const endpoints = (ips: readonly string[], over: Partial<Endpoints['metadata']> = {}): Endpoints => ({
  apiVersion: 'v1',
  kind: 'Endpoints',
  metadata: meta('web', over),
  subsets: [{ addresses: ips.map((ip) => ({ ip })), ports: [{ protocol: 'TCP', port: 80 }] }],
});
const mirrored = () =>
  world
    .all(endpointSliceResource)
    .map((slice) => slice.endpoints.flatMap(({ addresses }) => addresses).join());
const isThere = () => world.stored(endpointsResource, key) !== undefined;
const sync = () => {
  for (const ref of [serviceResource, endpointsResource, endpointSliceResource]) world.sync(ref as never);
};

beforeEach(async () => {
  world = new ScriptedWorld(endpointSliceMirroringController);
  world.put(serviceResource, bare);
  world.put(endpointsResource, endpoints(['192.0.2.1']));
  assert.equal(await world.reconcile(key), undefined);
});

it('Endpoints are mirrored as slices that they own, which follow their changes', async () => {
  assert.deepEqual(mirrored(), ['192.0.2.1']);
  const [slice] = world.all(endpointSliceResource);
  assert.deepEqual(
    slice?.metadata.ownerReferences?.map(({ kind, uid, controller }) => [kind, uid, controller]),
    [['Endpoints', 'uid-web', true]],
  );
  assert.deepEqual(world.told, []);
  // The cache does not show the write.
  assert.deepEqual(await world.reconcile(key), { requeueAfter: verifyAfter });
  sync();
  world.put(endpointsResource, endpoints(['192.0.2.1', '192.0.2.2']));
  await world.reconcile(key);
  assert.deepEqual(mirrored(), ['192.0.2.1,192.0.2.2']);
});

it('slices are deleted when their Endpoints are deleted, or no longer mirrored', async () => {
  for (const change of [
    () => world.put(endpointsResource, endpoints(['192.0.2.1'], { deletionTimestamp: at(1) })),
    () => {
      world.take(endpointsResource, key);
      sync();
    },
    () => world.put(serviceResource, service()),
  ]) {
    world = new ScriptedWorld(endpointSliceMirroringController);
    world.put(serviceResource, bare);
    world.put(endpointsResource, endpoints(['192.0.2.1']));
    await world.reconcile(key);
    sync();
    change();
    await world.reconcile(key);
    assert.deepEqual(mirrored(), []);
  }
});

it('Endpoints are deleted with their Service, and the slices too', async () => {
  sync();
  world.take(serviceResource, key);
  sync();
  await world.reconcile(key);
  assert.deepEqual([isThere(), mirrored()], [false, []]);
});

it('a Service that the cache does not show yet causes no deletion', async () => {
  sync();
  world.seen.remove(serviceResource, key);
  assert.equal(await world.reconcile(key), undefined);
  assert.deepEqual([isThere(), mirrored()], [true, ['192.0.2.1']]);
  world.refuse = (verb) => (verb === 'get' ? newInternalError('no') : undefined);
  await assert.rejects(world.reconcile(key), /no/);
  assert.equal(isThere(), true);
});

it('Endpoints that never had a Service are kept', async () => {
  world = new ScriptedWorld(endpointSliceMirroringController);
  world.put(endpointsResource, endpoints(['192.0.2.1']));
  await world.reconcile(key);
  assert.deepEqual([isThere(), mirrored()], [true, []]);
});

it('other slices with the same Service name are not mistaken for mirrored ones', async () => {
  sync();
  world.take(serviceResource, key);
  const others = endpoints(['192.0.2.7'], { uid: 'another' });
  world.store(endpointsResource, others);
  sync();
  await world.reconcile(key);
  assert.deepEqual([isThere(), mirrored()], [true, []]);
  // The others are not mistaken for them either when the cache shows the earlier Endpoints.
  world.store(endpointsResource, endpoints(['192.0.2.1']));
  world.store(serviceResource, bare);
  sync();
  await world.reconcile(key);
  sync();
  world.take(serviceResource, key);
  world.seen.remove(serviceResource, key);
  world.store(endpointsResource, others);
  await assert.rejects(world.reconcile(key), /another/);
  assert.equal(isThere(), true);
});

it('slices that are being deleted are not counted', async () => {
  const [slice] = world.all(endpointSliceResource);
  assert.ok(slice);
  sync();
  const going = { ...slice, metadata: { ...slice.metadata, deletionTimestamp: at(1), finalizers: ['a/b'] } };
  world.put(endpointSliceResource, going);
  await world.reconcile(key);
  assert.deepEqual(mirrored(), ['192.0.2.1', '192.0.2.1']);
});

it('an event reports addresses above the limit of the mirror', async () => {
  sync();
  const ips = Array.from({ length: 1002 }, (_, n) => `10.1.${n >> 8}.${n & 255}`);
  world.put(endpointsResource, endpoints(ips));
  await world.reconcile(key);
  assert.deepEqual(world.told, [
    'Warning TooManyAddressesToMirror web: A max of 1000 addresses can be mirrored to EndpointSlices per Endpoints subset. 2 addresses were skipped',
  ]);
});

it('changes of the Service, the Endpoints and the slices cause a reconciliation', () => {
  assert.deepEqual(world.keysOf(serviceResource, bare), [key]);
  assert.deepEqual(world.keysOf(endpointsResource, endpoints([])), [key]);
  const [slice] = world.all(endpointSliceResource);
  assert.deepEqual(world.keysOf(endpointSliceResource, slice ?? assert.fail()), [key]);
});
