import assert from 'node:assert/strict';
import { test } from 'node:test';
import { replicationControllerResource } from '../../../../../src/api/core/v1/replication-controller.ts';
import { cells, created, merge, testCreate, testStatus, testUpdate } from '../../../../fixtures/kinds.ts';
import { head, pod, spec, template } from '../../../../fixtures/workloads.ts';

const controller = { ...head('v1', 'ReplicationController'), spec: { template } };

testCreate(replicationControllerResource, controller, [
  ['a selector of its own', spec({ selector: { app: 'web' } })],
  ['no pods', spec({ replicas: 0 })],
  [
    'a selector that does not match the template',
    spec({ selector: { tier: 'a' } }),
    'spec.template.metadata.labels: Invalid value: {"app":"web"}: `selector` does not match template `labels`',
  ],
  ['no labels at all', spec({ template: { metadata: null } }), 'spec.selector: Required value'],
  [
    'negative numbers',
    spec({ replicas: -1, minReadySeconds: -1 }),
    'spec.minReadySeconds: Invalid value: -1: must be greater than or equal to 0',
    'spec.replicas: Invalid value: -1: must be greater than or equal to 0',
  ],
  [
    'pods with another restart policy than Always',
    pod({ restartPolicy: 'Never', activeDeadlineSeconds: 5 }),
    'spec.template.spec.restartPolicy: Unsupported value: "Never": supported values: "Always"',
    'spec.template.spec.activeDeadlineSeconds: Forbidden: activeDeadlineSeconds in ReplicationController is not Supported',
  ],
  [
    'no image',
    pod({ containers: [{ name: 'a' }] }),
    'spec.template.spec.containers[0].image: Required value',
  ],
]);

testUpdate(replicationControllerResource, controller, [
  [
    'changed replicas, template and selector',
    spec({ replicas: 3, selector: { v: '1' }, template: { metadata: { labels: { v: '1' } } } }),
  ],
  [
    'template labels that the selector does not match',
    spec({ selector: { v: '1' } }),
    'spec.template.metadata.labels: Invalid value',
  ],
]);

const more = (field: string, value: number) =>
  `status.${field}: Invalid value: ${value}: cannot be greater than status.replicas`;
testStatus(replicationControllerResource, controller, [
  [
    'a status as its controller writes it',
    undefined,
    { replicas: 3, readyReplicas: 2, availableReplicas: 2 },
  ],
  [
    'negative',
    { replicas: 3 },
    { observedGeneration: -1 },
    'status.observedGeneration: Invalid value: -1: must be',
  ],
  [
    'counts above status.replicas',
    { replicas: 1 },
    { readyReplicas: 2, fullyLabeledReplicas: 3, availableReplicas: 2 },
    more('fullyLabeledReplicas', 3),
    more('readyReplicas', 2),
    more('availableReplicas', 2),
  ],
  [
    'more available replicas than ready ones',
    { replicas: 3, readyReplicas: 1 },
    { availableReplicas: 2 },
    'status.availableReplicas: Invalid value: 2: cannot be greater than readyReplicas',
  ],
]);

test('the labels of its pods are its selector and its own labels by default', () => {
  const made = created(replicationControllerResource, controller);
  assert.equal(made.spec.replicas, 1);
  assert.deepEqual(made.spec.selector, { app: 'web' });
  assert.deepEqual(made.metadata.labels, { app: 'web' });
  made.metadata.labels = { changed: 'x' };
  assert.deepEqual(made.spec.template.metadata.labels, { app: 'web' });

  const own = merge(controller, { metadata: { labels: { own: '1' } }, spec: { selector: { app: 'x' } } });
  const kept = created(replicationControllerResource, own);
  assert.deepEqual([kept.metadata.labels, kept.spec.selector], [{ own: '1' }, { app: 'x' }]);
});

test('a delete without options orphans the pods of a ReplicationController', () => {
  assert.equal(replicationControllerResource.strategy.orphansByDefault, true);
});

test('the scale, the columns and the selectable field of a replication controller', () => {
  const { scale, selectableFields } = replicationControllerResource;
  assert.ok(scale);
  const made = created(replicationControllerResource, merge(controller, spec({ selector: { app: 'web' } })));
  assert.deepEqual(
    [scale.getReplicas(made), scale.statusReplicas(made), scale.selector(made)],
    [1, 0, 'app=web'],
  );
  assert.equal(selectableFields['status.replicas']?.(made), '0');
  scale.setReplicas(made, 5);
  made.status = { replicas: 4, readyReplicas: 2 };
  assert.equal(scale.statusReplicas(made), 4);
  assert.equal(selectableFields['status.replicas']?.(made), '4');
  assert.deepEqual(cells(replicationControllerResource, made, Date.now()), {
    Name: 'web',
    Desired: 5,
    Current: 4,
    Ready: 2,
    Age: '<unknown>',
    Containers: 'web',
    Images: 'nginx:1',
    Selector: 'app=web',
  });
});
