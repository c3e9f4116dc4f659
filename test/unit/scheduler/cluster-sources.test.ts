/** Objects of kinds other than pods and nodes that the scheduler reads. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { replicaSetResource } from '../../../src/api/apps/v1/replica-set.ts';
import { statefulSetResource } from '../../../src/api/apps/v1/stateful-set.ts';
import { namespaceResource } from '../../../src/api/core/v1/namespace.ts';
import { replicationControllerResource } from '../../../src/api/core/v1/replication-controller.ts';
import { serviceResource } from '../../../src/api/core/v1/service/service.ts';
import { persistentVolumeResource } from '../../../src/api/core/v1/volume/persistent-volume.ts';
import { persistentVolumeClaimResource } from '../../../src/api/core/v1/volume/persistent-volume-claim.ts';
import { podDisruptionBudgetResource } from '../../../src/api/policy/v1/pod-disruption-budget.ts';
import { storageClassResource } from '../../../src/api/storage/v1/storage-class.ts';
import { formatSelector } from '../../../src/apimachinery/labels.ts';
import type { KubeObject, ObjectKey, OwnerReference } from '../../../src/apimachinery/meta.ts';
import type { ResourceRef } from '../../../src/apimachinery/resource-definition.ts';
import { clusterSources } from '../../../src/scheduler/cluster-sources.ts';
import { Snapshot } from '../../../src/scheduler/snapshot.ts';
import { ScriptedInformers } from '../../fixtures/scripted-informers.ts';
import { meta, pod } from '../controllers/objects.ts';

type Resource = ResourceRef<KubeObject>;

function world(...objects: [resource: unknown, name: string, more: object][]) {
  const informers = new ScriptedInformers();
  const put = (resource: unknown, name: string, more: object, labels = {}) =>
    informers.put(
      resource as Resource,
      { metadata: meta(name, { labels }), ...more } as unknown as KubeObject,
    );
  for (const [resource, name, more] of objects) put(resource, name, more);
  return { informers, put, sources: clusterSources(informers) };
}

const matchLabels = (labels: Record<string, string>) => ({ spec: { selector: { matchLabels: labels } } });
const plainly = (labels: Record<string, string>) => ({ spec: { selector: labels } });

describe('the selector of pods that belong with a pod', () => {
  const owned = (apiVersion: string, kind: string, controller = true): OwnerReference => ({
    apiVersion,
    kind,
    name: 'owner',
    uid: 'u',
    controller,
    blockOwnerDeletion: true,
  });
  const objects: [unknown, string, object][] = [
    [replicaSetResource, 'owner', matchLabels({ set: 'replica' })],
    [statefulSetResource, 'owner', matchLabels({ set: 'stateful' })],
    [replicationControllerResource, 'owner', plainly({ set: 'replication' })],
  ];
  const services: [unknown, string, object][] = [
    [serviceResource, 'one', plainly({ app: 'web' })],
    [serviceResource, 'two', plainly({ tier: 'front' })],
    [serviceResource, 'other', plainly({ app: 'db' })],
    [serviceResource, 'empty', plainly({})],
    [serviceResource, 'none', { spec: {} }],
  ];
  const table: [string, [unknown, string, object][], OwnerReference | undefined, string | undefined][] = [
    ['is undefined without a Service and an owner', objects, undefined, undefined],
    ['combines the selectors of all Services that select the pod', services, undefined, 'app=web,tier=front'],
    ["is that of the pod's ReplicaSet", objects, owned('apps/v1', 'ReplicaSet'), 'set=replica'],
    ["is that of the pod's StatefulSet", objects, owned('apps/v1', 'StatefulSet'), 'set=stateful'],
    [
      "is that of the pod's ReplicationController",
      objects,
      owned('v1', 'ReplicationController'),
      'set=replication',
    ],
    [
      "combines the selectors of the pod's ReplicaSet and Services",
      [...objects, ...services],
      owned('apps/v1', 'ReplicaSet'),
      'app=web,set=replica,tier=front',
    ],
    ['is undefined if the ReplicaSet does not exist', [], owned('apps/v1', 'ReplicaSet'), undefined],
    [
      'is undefined if the ReplicationController does not exist',
      [],
      owned('v1', 'ReplicationController'),
      undefined,
    ],
    ['is undefined if the owner is a Job', objects, owned('batch/v1', 'Job'), undefined],
    [
      'is undefined if the owner is not the controller of the pod',
      objects,
      owned('apps/v1', 'ReplicaSet', false),
      undefined,
    ],
  ];
  for (const [what, there, owner, expected] of table)
    it(what, () => {
      const ownerReferences = owner ? [owner] : undefined;
      const one = pod('p', { metadata: { labels: { app: 'web', tier: 'front' }, ownerReferences } });
      const selector = world(...there).sources.siblingsOf(one);
      assert.equal(selector && formatSelector(selector), expected);
    });
  it('ignores owners and Services of other namespaces', () => {
    const one = pod('p', {
      metadata: {
        namespace: 'other',
        ownerReferences: [owned('apps/v1', 'ReplicaSet')],
        labels: { app: 'web' },
      },
    });
    assert.equal(world(...objects, ...services).sources.siblingsOf(one), undefined);
  });
});

describe('disruption budgets', () => {
  it('are read with the number of disruptions that they allow, which is 0 without a status', () => {
    const spec = { selector: { matchLabels: { app: 'web' } } };
    const disruptedPods = { x: '2026-01-01T00:00:00Z' };
    const { sources } = world(
      [podDisruptionBudgetResource, 'new', { spec }],
      [podDisruptionBudgetResource, 'known', { spec, status: { disruptionsAllowed: 2, disruptedPods } }],
    );
    assert.deepEqual(
      sources
        .budgets()
        .map(({ namespace, allowed, disrupted, selector }) => [
          namespace,
          allowed,
          [...disrupted],
          formatSelector(selector),
        ]),
      [
        ['default', 0, [], 'app=web'],
        ['default', 2, ['x'], 'app=web'],
      ],
    );
  });
});

describe('a change of other objects is reported', () => {
  function followed() {
    const events: string[] = [];
    const made = world();
    const snapshot = new Snapshot(made.sources, ({ kind }) => events.push(kind));
    made.sources.follow(snapshot);
    const told = (happen: () => void) => {
      events.length = 0;
      happen();
      return events.join();
    };
    return { ...made, told };
  }
  for (const [what, resource] of [
    ['a claim', persistentVolumeClaimResource],
    ['a volume', persistentVolumeResource],
    ['a storage class', storageClassResource],
  ] as const)
    it(`for ${what} that is added, changed or removed`, () => {
      const { told, put, informers } = followed();
      assert.equal(
        told(() => put(resource, 'x', { spec: {} })),
        'storageChanged',
      );
      assert.equal(
        told(() => put(resource, 'x', { spec: { volumeMode: 'Block' } })),
        'storageChanged',
      );
      assert.equal(
        told(() => informers.remove(resource as Resource, 'default/x' as ObjectKey)),
        'storageChanged',
      );
    });
  it('for a namespace that is created, or gets other labels', () => {
    const { told, put } = followed();
    assert.equal(
      told(() => put(namespaceResource, 'x', {})),
      'namespaceChanged',
    );
    assert.equal(
      told(() => put(namespaceResource, 'x', { status: {} })),
      '',
    );
    assert.equal(
      told(() => put(namespaceResource, 'x', {}, { team: 'one' })),
      'namespaceChanged',
    );
  });
});

it('claims, volumes, storage classes and the labels of namespaces are found by name', () => {
  const { informers, put, sources } = world([
    persistentVolumeClaimResource,
    'c',
    { spec: { volumeName: 'v' } },
  ]);
  informers.put(
    namespaceResource as unknown as Resource,
    {
      metadata: { ...meta('ns', { labels: { team: 'one' } }), namespace: undefined },
    } as unknown as KubeObject,
  );
  for (const [resource, name] of [
    [persistentVolumeResource, 'v'],
    [storageClassResource, 'late'],
  ] as const)
    informers.put(
      resource as unknown as Resource,
      { metadata: { ...meta(name), namespace: undefined }, spec: {} } as unknown as KubeObject,
    );
  put(persistentVolumeClaimResource, 'd', {});
  assert.deepEqual(sources.namespaceLabels('ns'), { team: 'one' });
  assert.equal(sources.namespaceLabels('other'), undefined);
  assert.equal(sources.volumes.claim('default', 'c')?.spec.volumeName, 'v');
  assert.equal(sources.volumes.claim('other', 'c'), undefined);
  assert.equal(sources.volumes.volume('v')?.metadata.name, 'v');
  assert.equal(sources.volumes.storageClass('late')?.metadata.name, 'late');
});
