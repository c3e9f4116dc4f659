import assert from 'node:assert/strict';
import { test } from 'node:test';
import { daemonSetResource } from '../../../../../src/api/apps/v1/daemon-set.ts';
import { cells, created, merge, testCreate, testStatus, testUpdate } from '../../../../fixtures/kinds.ts';
import { pod, spec, workload } from '../../../../fixtures/workloads.ts';

const set = workload('DaemonSet');
const rolling = (rollingUpdate: object) => spec({ updateStrategy: { rollingUpdate } });
const step = 'spec.updateStrategy.rollingUpdate';

testCreate(daemonSetResource, set, [
  ['a name with dots', { metadata: { name: 'a.b' } }],
  [
    'empty selector',
    spec({ selector: { matchLabels: null } }),
    'spec.selector: Invalid value: {}: empty selector is invalid for daemonset',
  ],
  [
    'a selector that does not match the template',
    spec({ selector: { matchLabels: { tier: 'a' } } }),
    'spec.template.metadata.labels: Invalid value: {"app":"web"}: `selector` does not match template `labels`',
  ],
  [
    'pods with another restart policy than Always',
    pod({ restartPolicy: 'OnFailure', activeDeadlineSeconds: 5 }),
    'spec.template.spec.restartPolicy: Unsupported value: "OnFailure": supported values: "Always"',
    'spec.template.spec.activeDeadlineSeconds: Forbidden: activeDeadlineSeconds in DaemonSet is not Supported',
  ],
  [
    'negative numbers',
    spec({ minReadySeconds: -1, revisionHistoryLimit: -1 }),
    'spec.minReadySeconds: Invalid value: -1: must be greater than or equal to 0',
    'spec.revisionHistoryLimit: Invalid value: -1: must be greater than or equal to 0',
  ],
  ['by hand', spec({ updateStrategy: { type: 'OnDelete' } })],
  [
    'another strategy',
    spec({ updateStrategy: { type: 'Recreate' } }),
    'spec.updateStrategy.type: Unsupported',
  ],
  ['a surge alone', rolling({ maxSurge: '20%', maxUnavailable: 0 })],
  [
    'maxSurge and maxUnavailable together',
    rolling({ maxSurge: 1, maxUnavailable: '1%' }),
    `${step}.maxSurge: Invalid value: 1: may not be set when maxUnavailable is non-zero`,
  ],
  [
    'neither maxSurge nor maxUnavailable',
    rolling({ maxUnavailable: '0%' }),
    `${step}.maxUnavailable: Required value: cannot be 0 when maxSurge is 0`,
  ],
  [
    'a maxUnavailable above 100 %',
    rolling({ maxUnavailable: '101%', maxSurge: '0%' }),
    `${step}.maxUnavailable: Invalid value: "101%": must not be greater than 100%`,
  ],
  [
    'a maxSurge above 100 %',
    rolling({ maxUnavailable: 0, maxSurge: '101%' }),
    `${step}.maxSurge: Invalid value: "101%": must not be greater than 100%`,
  ],
  [
    'invalid steps',
    rolling({ maxUnavailable: -1, maxSurge: 'half' }),
    `${step}.maxUnavailable: Invalid value: -1: must be greater than or equal to 0`,
    `${step}.maxSurge: Invalid value: "half": a valid percent string`,
  ],
]);

testUpdate(daemonSetResource, set, [
  [
    'a changed template and strategy',
    spec({ updateStrategy: { type: 'OnDelete' }, template: { spec: { hostPID: true } } }),
  ],
  [
    'selector',
    spec({ selector: { matchLabels: { v: '1' } }, template: { metadata: { labels: { v: '1' } } } }),
    'spec.selector: Invalid value: {"matchLabels":{"app":"web","v":"1"}}: field is immutable',
  ],
]);

const counts = {
  currentNumberScheduled: 1,
  numberMisscheduled: 0,
  desiredNumberScheduled: 2,
  numberReady: 1,
};
testStatus(daemonSetResource, set, [
  ['a status as its controller writes it', undefined, { ...counts, collisionCount: 1, numberAvailable: 1 }],
  [
    'negative numbers',
    counts,
    { numberReady: -1, numberUnavailable: -2 },
    'status.numberReady: Invalid value: -1: must be greater than or equal to 0',
    'status.numberUnavailable: Invalid value: -2: must be greater than or equal to 0',
  ],
  [
    'fewer collisions',
    { ...counts, collisionCount: 2 },
    { collisionCount: 1 },
    'status.collisionCount: Invalid value: 1: cannot be decremented',
  ],
  [
    'a removed collisionCount',
    { ...counts, collisionCount: 2 },
    { collisionCount: null },
    'status.collisionCount: Invalid value: 0: cannot be decremented',
  ],
  ['an unchanged collisionCount', { ...counts, collisionCount: 2 }, { collisionCount: 2 }],
]);

test('a DaemonSet gets the defaults of Kubernetes', () => {
  const { spec: found } = created(daemonSetResource, set);
  assert.equal(found.revisionHistoryLimit, 10);
  assert.deepEqual(found.updateStrategy, {
    type: 'RollingUpdate',
    rollingUpdate: { maxUnavailable: 1, maxSurge: 0 },
  });
  assert.equal(found.template.spec.restartPolicy, 'Always');
  const byHand = created(daemonSetResource, merge(set, spec({ updateStrategy: { type: 'OnDelete' } })));
  assert.deepEqual(byHand.spec.updateStrategy, { type: 'OnDelete' });
});

test('a DaemonSet has the columns of kubectl', () => {
  const made = created(daemonSetResource, merge(set, pod({ nodeSelector: { disk: 'ssd' } })));
  const texts = (status: object) => cells(daemonSetResource, Object.assign(made, { status }), Date.now());
  assert.deepEqual(texts({ ...counts, updatedNumberScheduled: 3, numberAvailable: 4 }), {
    Name: 'web',
    Desired: 2,
    Current: 1,
    Ready: 1,
    'Up-to-date': 3,
    Available: 4,
    'Node Selector': 'disk=ssd',
    Age: '<unknown>',
    Containers: 'web',
    Images: 'nginx:1',
    Selector: 'app=web',
  });
  const { Available, 'Node Selector': selector } = cells(
    daemonSetResource,
    created(daemonSetResource, set),
    0,
  );
  assert.deepEqual([Available, selector], [0, '<none>']);
});
