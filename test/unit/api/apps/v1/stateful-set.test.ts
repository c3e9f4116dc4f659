import assert from 'node:assert/strict';
import { test } from 'node:test';
import { statefulSetResource } from '../../../../../src/api/apps/v1/stateful-set.ts';
import { convertObject } from '../../../../../src/apimachinery/decode.ts';
import { kindFields } from '../../../../../src/features/kinds.ts';
import { cells, created, merge, testCreate, testStatus, testUpdate } from '../../../../fixtures/kinds.ts';
import { pod, spec, workload } from '../../../../fixtures/workloads.ts';

const set = merge(workload('StatefulSet'), spec({ serviceName: 'web' })) as ReturnType<typeof workload>;
const strategy = (updateStrategy: object) => spec({ updateStrategy });
const claim = { metadata: { name: 'data' }, spec: { accessModes: ['ReadWriteOnce'] } };

testCreate(statefulSetResource, set, [
  [
    'a name that cannot begin the name of a host',
    { metadata: { name: 'a.b' } },
    'metadata.name: Invalid value: "a.b": a lowercase RFC 1123 label',
  ],
  [
    'empty selector',
    spec({ selector: { matchLabels: null } }),
    'spec.selector: Invalid value: {}: empty selector is invalid for statefulset',
  ],
  [
    'a selector that does not match the template',
    spec({ selector: { matchLabels: { tier: 'a' } } }),
    'spec.template.metadata.labels: Invalid value: {"app":"web"}: `selector` does not match template `labels`',
  ],
  [
    'invalid labels and annotations',
    spec({ template: { metadata: { labels: { x: 'c d' }, annotations: { 'a b': '' } } } }),
    'spec.template.labels: Invalid value: "c d": a valid label',
    'spec.template.annotations: Invalid value: "a b": name part',
  ],
  [
    'pods with another restart policy than Always',
    pod({ restartPolicy: 'Never', activeDeadlineSeconds: 5 }),
    'spec.template.spec.restartPolicy: Unsupported value: "Never": supported values: "Always"',
    'spec.template.spec.activeDeadlineSeconds: Forbidden: activeDeadlineSeconds in StatefulSet is not Supported',
  ],
  [
    'a mounted volume of a claim template',
    spec({
      volumeClaimTemplates: [claim],
      template: {
        spec: {
          containers: [{ name: 'a', image: 'x', volumeMounts: [{ name: 'data', mountPath: '/d' }] }],
        },
      },
    }),
  ],
  [
    'negative numbers',
    spec({ replicas: -1, minReadySeconds: -1, ordinals: { start: -1 } }),
    'spec.minReadySeconds: Invalid value: -1: must be greater than or equal to 0',
    'spec.ordinals.start: Invalid value: -1: must be greater than or equal to 0',
    'spec.replicas: Invalid value: -1: must be greater than or equal to 0',
  ],
  [
    'negative history',
    spec({ revisionHistoryLimit: -1 }),
    'spec.revisionHistoryLimit: Invalid value: -1: must',
  ],
  ['pod management OrderedReady', spec({ podManagementPolicy: 'OrderedReady' })],
  [
    'an unknown pod management policy',
    spec({ podManagementPolicy: 'Reverse' }),
    'spec.podManagementPolicy: Unsupported value',
  ],
  ['strategy OnDelete', strategy({ type: 'OnDelete' })],
  [
    'strategy OnDelete with a partition',
    strategy({ type: 'OnDelete', rollingUpdate: { partition: 1 } }),
    'spec.updateStrategy.rollingUpdate: Invalid value: {"partition":1}: only allowed for updateStrategy \'RollingUpdate\'',
  ],
  [
    'an unknown strategy',
    strategy({ type: 'Recreate' }),
    'spec.updateStrategy.type: Unsupported value: "Recreate"',
  ],
  [
    'negative partition',
    strategy({ rollingUpdate: { partition: -1 } }),
    'spec.updateStrategy.rollingUpdate.partition: Invalid value: -1: must be greater than or equal to 0',
  ],
  ['a maxUnavailable in percent', strategy({ rollingUpdate: { maxUnavailable: '30%' } })],
  [
    'a maxUnavailable of 0',
    strategy({ rollingUpdate: { maxUnavailable: 0 } }),
    'spec.updateStrategy.rollingUpdate.maxUnavailable: Invalid value: 0: cannot be 0',
  ],
  [
    'a maxUnavailable above 100 %',
    strategy({ rollingUpdate: { maxUnavailable: '101%' } }),
    'spec.updateStrategy.rollingUpdate.maxUnavailable: Invalid value: "101%": must not be greater than 100%',
  ],
  [
    'a negative maxUnavailable',
    strategy({ rollingUpdate: { maxUnavailable: -1 } }),
    'spec.updateStrategy.rollingUpdate.maxUnavailable: Invalid value: -1: must be greater than or equal to 0',
  ],
  [
    'a maxUnavailable that is neither a number nor a percentage',
    strategy({ rollingUpdate: { maxUnavailable: 'two' } }),
    'spec.updateStrategy.rollingUpdate.maxUnavailable: Invalid value: "two": a valid percent string',
  ],
  ['claims that are deleted', spec({ persistentVolumeClaimRetentionPolicy: { whenScaled: 'Delete' } })],
  [
    'an unknown retention policy of claims',
    spec({ persistentVolumeClaimRetentionPolicy: { whenScaled: 'Keep' } }),
    'spec.persistentVolumeClaimRetentionPolicy.whenScaled: Unsupported value: "Keep": supported values: "Retain", "Delete"',
  ],
]);

const immutable =
  "spec: Forbidden: updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', 'updateStrategy', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden";

testUpdate(statefulSetResource, set, [
  [
    'all mutable fields',
    spec({
      replicas: 3,
      ordinals: { start: 2 },
      template: { spec: { hostNetwork: true } },
      updateStrategy: { type: 'OnDelete', rollingUpdate: null },
      persistentVolumeClaimRetentionPolicy: { whenDeleted: 'Delete' },
      minReadySeconds: 5,
    }),
  ],
  ['the service', spec({ serviceName: 'other' }), immutable],
  ['the order', spec({ podManagementPolicy: 'Parallel' }), immutable],
  ['the history', spec({ revisionHistoryLimit: 3 }), immutable],
  ['claims', spec({ volumeClaimTemplates: [claim] }), immutable],
  [
    'selector',
    spec({ selector: { matchLabels: { v: '1' } }, template: { metadata: { labels: { v: '1' } } } }),
    immutable,
  ],
]);

const more = (field: string, value: number) =>
  `status.${field}: Invalid value: ${value}: cannot be greater than status.replicas`;
testStatus(statefulSetResource, set, [
  [
    'a status as its controller writes it',
    undefined,
    { replicas: 3, readyReplicas: 2, availableReplicas: 2 },
  ],
  [
    'negative',
    { replicas: 3 },
    { observedGeneration: -1 },
    'status.observedGeneration: Invalid value: -1: must',
  ],
  [
    'counts above status.replicas',
    { replicas: 1 },
    { readyReplicas: 2, currentReplicas: 3, updatedReplicas: 4, availableReplicas: 2 },
    more('readyReplicas', 2),
    more('currentReplicas', 3),
    more('updatedReplicas', 4),
    more('availableReplicas', 2),
  ],
  [
    'more available replicas than ready ones',
    { replicas: 3, readyReplicas: 1 },
    { availableReplicas: 2 },
    'status.availableReplicas: Invalid value: 2: cannot be greater than status.readyReplicas',
  ],
  [
    'fewer collisions',
    { replicas: 0, collisionCount: 2 },
    { collisionCount: 1 },
    'status.collisionCount: Invalid value: 1: cannot be decremented',
  ],
]);

test('a StatefulSet gets the defaults of Kubernetes', () => {
  const { spec: found } = created(statefulSetResource, set);
  assert.deepEqual(
    [found.replicas, found.revisionHistoryLimit, found.podManagementPolicy],
    [1, 10, 'OrderedReady'],
  );
  assert.deepEqual(found.updateStrategy, { type: 'RollingUpdate', rollingUpdate: { partition: 0 } });
  assert.deepEqual(found.persistentVolumeClaimRetentionPolicy, {
    whenDeleted: 'Retain',
    whenScaled: 'Retain',
  });
  assert.equal(found.template.spec.containers[0]?.imagePullPolicy, 'IfNotPresent');
  const with_ = (updateStrategy: object) =>
    created(statefulSetResource, merge(set, strategy(updateStrategy))).spec.updateStrategy;
  assert.deepEqual(with_({ type: 'RollingUpdate' }), { type: 'RollingUpdate' });
  assert.deepEqual(with_({ rollingUpdate: { partition: 2 } }), {
    type: 'RollingUpdate',
    rollingUpdate: { partition: 2 },
  });
  const ordinals = created(statefulSetResource, merge(set, spec({ ordinals: {} }))).spec.ordinals;
  assert.deepEqual(ordinals, { start: 0 });
});

test('every field of a StatefulSet has an effect, and claim templates get the defaults of claims', () => {
  const body = merge(set, {
    spec: { volumeClaimTemplates: [claim], updateStrategy: { rollingUpdate: { maxUnavailable: 2 } } },
  });
  const { warnings, object } = convertObject(kindFields, statefulSetResource, body, 'Strict');
  assert.deepEqual(warnings, []);
  statefulSetResource.strategy.setDefaults?.(object);
  assert.deepEqual(object.spec.volumeClaimTemplates, [
    {
      apiVersion: 'v1',
      kind: 'PersistentVolumeClaim',
      ...claim,
      spec: { ...claim.spec, resources: {}, volumeMode: 'Filesystem' },
      status: { phase: 'Pending' },
    },
  ]);
});

test('a StatefulSet has a scale and the columns of kubectl', () => {
  const made = created(statefulSetResource, merge(set, spec({ replicas: 3 })));
  const { scale } = statefulSetResource;
  assert.ok(scale);
  assert.deepEqual(
    [scale.getReplicas(made), scale.statusReplicas(made), scale.selector(made)],
    [3, 0, 'app=web'],
  );
  scale.setReplicas(made, 5);
  made.status = { replicas: 4, readyReplicas: 2, availableReplicas: 0 };
  assert.equal(scale.statusReplicas(made), 4);
  assert.deepEqual(cells(statefulSetResource, made, Date.now()), {
    Name: 'web',
    Ready: '2/5',
    Age: '<unknown>',
    Containers: 'web',
    Images: 'nginx:1',
  });
});
