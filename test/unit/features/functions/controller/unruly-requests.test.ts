/**
 * Functions and instance pools while each request in turn is rejected, loses its answer, or is the last
 * one of its process.
 */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { type Lease, leaseResource } from '../../../../../src/api/coordination/v1/lease.ts';
import { masterLabel } from '../../../../../src/api/coordination/v1/master-lease.ts';
import { type Node, nodeResource } from '../../../../../src/api/core/v1/node/node.ts';
import { type Pod, podResource } from '../../../../../src/api/core/v1/pod/pod.ts';
import { controllerOf, isTerminating, objectKey } from '../../../../../src/apimachinery/meta.ts';
import { sha256 } from '../../../../../src/base/sha256.ts';
import { type Fn, functionResource } from '../../../../../src/features/functions/api/function.ts';
import { functionVersionResource } from '../../../../../src/features/functions/api/function-version.ts';
import { warmVersion } from '../../../../../src/features/functions/api/warm-instance.ts';
import { functionController } from '../../../../../src/features/functions/controller/function.ts';
import { warmPoolController } from '../../../../../src/features/functions/controller/warm-pool.ts';
import { atEachRequest } from '../../../controllers/at-each-request.ts';
import { at, meta } from '../../../controllers/objects.ts';
import type { ScriptedWorld } from '../../../controllers/scripted-world.ts';

const images = { python: 'python:3', nodejs: 'node:22' };
const kinds = [leaseResource, nodeResource, functionResource, functionVersionResource, podResource];

const fn = (more: object = {}): Fn =>
  ({
    ...{ apiVersion: 'minik8s.io/v1', kind: 'Function', metadata: meta('f') },
    spec: {
      ...{ runtime: 'python', handler: 'main.handler', files: { 'main.py': '' }, timeoutSeconds: 30 },
      ...{ concurrency: 10, minScale: 0, maxScale: 10, idleSeconds: 0, windowSeconds: 30, target: 7 },
      ...more,
    },
    status: { demand: { m: 3 } },
  }) as unknown as Fn;

/** Lease of the master, valid for the whole scenario. */
const lease = {
  ...{ apiVersion: 'coordination.k8s.io/v1', kind: 'Lease' },
  metadata: meta('m', { namespace: 'kube-system', labels: { [masterLabel]: '' } }),
  spec: { holderIdentity: 'm', renewTime: at(0), leaseDurationSeconds: 86_400 },
} as unknown as Lease;

const waiting = (name: string): Pod =>
  ({
    ...{ apiVersion: 'v1', kind: 'Pod' },
    metadata: meta(name, {
      labels: {
        'minik8s.io/warm': 'python',
        'minik8s.io/function-version':
          warmVersion('default', 'python', 'python:3', sha256).metadata.name ?? '',
      },
    }),
    spec: { containers: [] },
  }) as unknown as Pod;

/** Acts as the node agents: pods run and become ready, and deleted pods end. */
function agents(world: ScriptedWorld): void {
  const status = {
    ...{ phase: 'Running', podIP: '10.0.0.1', containerStatuses: [{ state: { running: {} } }] },
    conditions: [{ type: 'Ready', status: 'True' }],
  };
  for (const pod of world.all(podResource))
    if (isTerminating(pod)) world.take(podResource, objectKey(pod));
    else if (!pod.status?.phase)
      world.edit(podResource, objectKey(pod), (one) => ({ ...one, status }) as unknown as Pod);
}

const alive = ({ server }: { server: ScriptedWorld }) =>
  server.all(podResource).filter((pod) => !isTerminating(pod));
const instances = (world: { server: ScriptedWorld }) =>
  alive(world).filter((pod) => controllerOf(pod)?.uid === 'uid-f');

it('a function gets the requested instances and one version if any request fails', async () => {
  const options = { factory: functionController(images), keys: ['default/f'], kinds, others: agents };
  await atEachRequest(options, async (world) => {
    const stored = () => world.server.stored(functionResource, 'default/f') ?? assert.fail();
    world.server.put(leaseResource, lease);
    world.server.put(functionResource, fn());
    for (const name of ['w1', 'w2']) world.server.put(podResource, waiting(name));
    await world.settle();
    const [first] = world.server.names(functionVersionResource);
    assert.equal(instances(world).length, 3);
    assert.equal(stored().status?.activeVersion, first);

    // Other clients call less of the function now, and its version changes.
    world.server.edit(functionResource, 'default/f', (one) => ({
      ...fn({ files: { 'main.py': 'new' } }),
      metadata: one.metadata,
      status: { ...one.status, demand: { m: 1 } },
    }));
    await world.settle();
    const versions = world.server.names(functionVersionResource);
    assert.deepEqual([versions.length, versions.includes(first ?? '')], [1, false]);
    assert.equal(stored().status?.activeVersion, versions[0]);
    assert.deepEqual(
      instances(world).map(({ metadata }) => metadata.labels?.['minik8s.io/function-version']),
      versions,
    );
    assert.deepEqual(
      [...world.told, ...world.server.told].filter((one) => one.includes('is not this function')),
      [],
      'its own version is mistaken for that of another owner',
    );
  });
});

it('a pool gets its waiting instances, and none once it is unused, if any request fails', async () => {
  const options = {
    ...{ factory: warmPoolController(images, 2), keys: ['default/python'], kinds, others: agents },
  };
  await atEachRequest(options, async (world) => {
    const node = {
      ...{ apiVersion: 'v1', kind: 'Node', metadata: { ...meta('n1'), namespace: undefined } },
      status: { capacity: { cpu: '4', memory: '8Gi' } },
    };
    world.server.put(nodeResource, node as unknown as Node);
    world.server.put(functionResource, fn());
    await world.settle();
    assert.equal(alive(world).length, 2);
    assert.equal(world.server.names(functionVersionResource).length, 1);

    // One instance is assigned, and a new one takes its place in the pool.
    const [given] = alive(world);
    world.server.edit(podResource, objectKey(given ?? assert.fail()), (pod) => ({
      ...pod,
      metadata: { ...pod.metadata, labels: { ...pod.metadata.labels, 'minik8s.io/function': 'f' } },
    }));
    await world.settle();
    assert.equal(alive(world).length, 3);

    world.server.take(functionResource, 'default/f');
    world.server.sync(functionResource);
    await world.settle();
    assert.deepEqual(
      alive(world).map(({ metadata }) => metadata.name),
      [given?.metadata.name],
      'an assigned instance stays',
    );
    assert.deepEqual(world.server.names(functionVersionResource), []);
  });
});
