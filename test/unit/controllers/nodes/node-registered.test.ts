/** Events about a new node. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Lease, leaseResource } from '../../../../src/api/coordination/v1/lease.ts';
import { nodeResource } from '../../../../src/api/core/v1/node/node.ts';
import { nodeLifecycle } from '../../../../src/controllers/nodes/node-lifecycle.ts';
import { at, meta, node } from '../objects.ts';
import { ScriptedWorld } from '../scripted-world.ts';

describe('a node that is new', () => {
  it('has one event, unless it existed before this leader was elected', async () => {
    const world = new ScriptedWorld(nodeLifecycle());
    const beat = (name: string, renewTime: string) =>
      world.put(leaseResource, {
        apiVersion: 'coordination.k8s.io/v1',
        kind: 'Lease',
        metadata: meta(name, { namespace: 'kube-node-lease' }),
        spec: { holderIdentity: name, renewTime, leaseDurationSeconds: 40 },
      } satisfies Lease);
    world.put(nodeResource, node('n1'));
    beat('n1', 'first');
    await world.reconcile('n1');
    const registered = 'Normal RegisteredNode n1: Node n1 event: Registered Node n1 in Controller';
    assert.deepEqual(world.told, [registered]);
    world.put(nodeResource, {
      ...node('n0'),
      metadata: { ...node('n0').metadata, creationTimestamp: at(-60) },
    });
    for (const renewTime of ['second', 'third', 'fourth', 'fifth']) {
      beat('n1', renewTime);
      beat('n0', renewTime);
      await world.clock.advance(10_000);
    }
    world.sync(nodeResource);
    await world.reconcile('n1');
    assert.deepEqual(world.told, [registered]);
  });
});
