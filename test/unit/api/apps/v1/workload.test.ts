import assert from 'node:assert/strict';
import { test } from 'node:test';
import { deploymentResource } from '../../../../../src/api/apps/v1/deployment.ts';
import { replicaSetResource } from '../../../../../src/api/apps/v1/replica-set.ts';
import { created, merge, testCreate, testUpdate } from '../../../../fixtures/kinds.ts';

const replicaSet = {
  apiVersion: 'apps/v1',
  kind: 'ReplicaSet',
  metadata: { name: 'web', namespace: 'default' },
  spec: {
    selector: { matchLabels: { app: 'web' } },
    template: {
      metadata: { labels: { app: 'web' } },
      spec: { containers: [{ name: 'web', image: 'nginx' }] },
    },
  },
};
const deployment = { ...replicaSet, kind: 'Deployment' };
const spec = (fields: object) => ({ spec: fields });
const pod = (fields: object) => spec({ template: { spec: fields } });
const mismatch =
  'spec.template.metadata.labels: Invalid value: {"app":"web"}: `selector` does not match template `labels`';

testCreate(replicaSetResource, replicaSet, [
  ['no replicas', spec({ replicas: 0 })],
  [
    'negative replicas',
    spec({ replicas: -1 }),
    'spec.replicas: Invalid value: -1: must be greater than or equal to 0',
  ],
  [
    'negative wait',
    spec({ minReadySeconds: -1 }),
    'spec.minReadySeconds: Invalid value: -1: must be greater than or',
  ],
  [
    'empty selector',
    spec({ selector: { matchLabels: null } }),
    'spec.selector: Invalid value: {}: empty selector is invalid for replicaset',
  ],
  [
    'a selector that does not match the template',
    spec({ selector: { matchLabels: { tier: 'a' } } }),
    mismatch,
  ],
  [
    'a selector with expressions',
    spec({ selector: { matchExpressions: [{ key: 'app', operator: 'In', values: ['web', 'x'] }] } }),
  ],
  [
    'bad expressions',
    spec({
      selector: {
        matchExpressions: [
          { key: 'a b', operator: 'In' },
          { key: 'app', operator: 'Exists', values: ['c d'] },
        ],
      },
    }),
    'spec.selector.matchExpressions[0].key: Invalid value: "a b": name part',
    "spec.selector.matchExpressions[0].values: Required value: must be specified when `operator` is 'In' or 'NotIn'",
    "spec.selector.matchExpressions[1].values: Forbidden: may not be specified when `operator` is 'Exists'",
    'spec.selector.matchExpressions[1].values[0]: Invalid value: "c d": a valid label',
    mismatch,
  ],
  [
    'bad labels to match',
    spec({ selector: { matchLabels: { app: 'c d' } } }),
    'spec.selector.matchLabels: Invalid value: "c d": a valid label',
    mismatch,
  ],
  [
    'labels of the template',
    spec({ template: { metadata: { labels: { x: 'c d' }, annotations: { 'a b': '' } } } }),
    'spec.template.metadata.labels: Invalid value: "c d": a valid label',
    'spec.template.metadata.annotations: Invalid value: "a b": name part',
  ],
  [
    'pods with another restart policy than Always',
    pod({ restartPolicy: 'Never' }),
    'spec.template.spec.restartPolicy: Unsupported value: "Never": supported values: "Always"',
  ],
  ['a template without containers', pod({ containers: [] }), 'spec.template.spec.containers: Required value'],
  [
    'pods with activeDeadlineSeconds',
    pod({ activeDeadlineSeconds: 5 }),
    'spec.template.spec.activeDeadlineSeconds: Forbidden: activeDeadlineSeconds in ReplicaSet is not Supported',
  ],
  [
    'host network with container ports alone',
    pod({ hostNetwork: true, containers: [{ name: 'a', image: 'x', ports: [{ containerPort: 80 }] }] }),
  ],
  [
    'host network with other ports',
    pod({
      hostNetwork: true,
      containers: [{ name: 'a', image: 'x', ports: [{ containerPort: 80, hostPort: 81 }] }],
    }),
    'spec.template.spec.containers[0].ports[0].containerPort: Invalid value: 80: must match `hostPort`',
  ],
]);

const rolling = (rollingUpdate: object) => spec({ strategy: { rollingUpdate } });
const step = 'spec.strategy.rollingUpdate';

testCreate(deploymentResource, deployment, [
  [
    'empty selector',
    spec({ selector: { matchLabels: null } }),
    'spec.selector: Invalid value: {}: empty selector is invalid for deployment',
  ],
  ['recreate', spec({ strategy: { type: 'Recreate' } })],
  [
    'strategy Recreate with rollingUpdate',
    spec({ strategy: { type: 'Recreate', rollingUpdate: { maxSurge: 1 } } }),
    `${step}: Forbidden: may not be specified when strategy \`type\` is 'Recreate'`,
  ],
  ['steps', rolling({ maxSurge: '150%', maxUnavailable: 0 })],
  [
    'neither maxSurge nor maxUnavailable',
    rolling({ maxSurge: '0%', maxUnavailable: 0 }),
    `${step}.maxUnavailable: Invalid value: 0: may not be 0 when \`maxSurge\` is 0`,
  ],
  [
    'a maxUnavailable above 100 %',
    rolling({ maxUnavailable: '101%' }),
    `${step}.maxUnavailable: Invalid value: "101%": must not be greater than 100%`,
  ],
  [
    'invalid steps',
    rolling({ maxUnavailable: 'half', maxSurge: -1 }),
    `${step}.maxUnavailable: Invalid value: "half": a valid percent string`,
    `${step}.maxSurge: Invalid value: -1: must be greater than or equal to 0`,
  ],
  ['no history', spec({ revisionHistoryLimit: 0 })],
  [
    'negative history',
    spec({ revisionHistoryLimit: -1 }),
    'spec.revisionHistoryLimit: Invalid value: -1: must be greater than or equal to 0',
  ],
  [
    'a progress deadline below minReadySeconds',
    spec({ progressDeadlineSeconds: 10, minReadySeconds: 10 }),
    'spec.progressDeadlineSeconds: Invalid value: 10: must be greater than minReadySeconds',
  ],
]);

for (const [kind, base] of [
  [replicaSetResource, replicaSet],
  [deploymentResource, deployment],
] as const) {
  testUpdate<never>(kind as never, base, [
    [
      'changed replicas and template',
      spec({ replicas: 3, template: { spec: { containers: [{ name: 'b', image: 'c' }] } } }),
    ],
    [
      'selector',
      spec({ selector: { matchLabels: { v: '1' } }, template: { metadata: { labels: { v: '1' } } } }),
      'spec.selector: Invalid value: {"matchLabels":{"app":"web","v":"1"}}: field is immutable',
    ],
  ]);
}

test('a Deployment gets the defaults of Kubernetes', () => {
  const { spec: found } = created(deploymentResource, deployment);
  assert.equal(found.replicas, 1);
  assert.equal(found.revisionHistoryLimit, 10);
  assert.equal(found.progressDeadlineSeconds, 600);
  assert.deepEqual(found.strategy, {
    type: 'RollingUpdate',
    rollingUpdate: { maxUnavailable: '25%', maxSurge: '25%' },
  });
  assert.equal(found.template.spec.containers[0]?.imagePullPolicy, 'Always');
  assert.equal(found.template.spec.tolerations, undefined, 'tolerations are added to pods only');
  const recreate = created(deploymentResource, merge(deployment, spec({ strategy: { type: 'Recreate' } })));
  assert.deepEqual(recreate.spec.strategy, { type: 'Recreate' });
});

test('the Scale of a Deployment and of a ReplicaSet reads and writes replicas, and has the selector as text', () => {
  const expressions = [{ key: 'tier', operator: 'NotIn', values: ['b', 'a'] }];
  const patch = spec({ replicas: 2, selector: { matchExpressions: expressions } });
  const set = created(replicaSetResource, merge(replicaSet, patch));
  set.status = { replicas: 1 };
  const { scale } = replicaSetResource;
  assert.ok(scale);
  assert.equal(scale.getReplicas(set), 2);
  assert.equal(scale.statusReplicas(set), 1);
  assert.equal(scale.selector(set), 'app=web,tier notin (a,b)');
  scale.setReplicas(set, 5);
  assert.equal(set.spec.replicas, 5);

  const one = created(deploymentResource, deployment);
  assert.equal(deploymentResource.scale?.getReplicas(one), 1);
  assert.equal(deploymentResource.scale?.statusReplicas(one), 0);
  assert.equal(deploymentResource.scale?.selector(one), 'app=web');
  deploymentResource.scale?.setReplicas(one, 0);
  assert.equal(one.spec.replicas, 0);
});
