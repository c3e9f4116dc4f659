import assert from 'node:assert/strict';
import { test } from 'node:test';
import { podTemplateResource } from '../../../../../src/api/core/v1/pod-template.ts';
import { cells, created, testCreate, testUpdate } from '../../../../fixtures/kinds.ts';

const template = {
  apiVersion: 'v1',
  kind: 'PodTemplate',
  metadata: { name: 'job', namespace: 'default' },
  template: {
    metadata: { labels: { app: 'job', tier: 'back' } },
    spec: {
      containers: [
        { name: 'a', image: 'x:1' },
        { name: 'b', image: 'y:1' },
      ],
    },
  },
};

testCreate(podTemplateResource, template, [
  ['a template with the restart policy Never', { template: { spec: { restartPolicy: 'Never' } } }],
  [
    'a volume of an image without a reference',
    { template: { spec: { volumes: [{ name: 'v', image: {} }] } } },
  ],
  ['no template', { template: null }, 'template.spec.containers: Required value'],
  ['no container', { template: { spec: { containers: [] } } }, 'template.spec.containers: Required value'],
  [
    'an invalid topology',
    {
      template: {
        spec: {
          topologySpreadConstraints: [
            { maxSkew: 0, topologyKey: 'zone', whenUnsatisfiable: 'DoNotSchedule' },
          ],
        },
      },
    },
    'template.spec.topologySpreadConstraints[0].maxSkew: Invalid value: 0',
  ],
  [
    'an AppArmor annotation of an unknown container',
    { template: { metadata: { annotations: { 'container.apparmor.security.beta.kubernetes.io/no': '' } } } },
    'template.metadata.annotations[container.apparmor.security.beta.kubernetes.io/no]: Invalid value: "no": container not found',
  ],
  [
    'an invalid label',
    { template: { metadata: { labels: { app: 'a b' } } } },
    'template.metadata.labels: Invalid value: "a b"',
  ],
]);

testUpdate(podTemplateResource, template, [
  ['another image', { template: { spec: { containers: [{ name: 'a', image: 'x:2' }] } } }],
  ['no container', { template: { spec: { containers: [] } } }, 'template.spec.containers: Required value'],
]);

test('a PodTemplate gets the defaults of Kubernetes', () => {
  const { template: made } = created(podTemplateResource, template);
  assert.equal(made.spec.restartPolicy, 'Always');
  assert.equal(made.spec.containers[0]?.imagePullPolicy, 'IfNotPresent');
  assert.equal(made.spec.dnsPolicy, 'ClusterFirst');
});

test('a PodTemplate has the columns of kubectl', () => {
  assert.deepEqual(cells(podTemplateResource, created(podTemplateResource, template), Date.now()), {
    Name: 'job',
    Containers: 'a,b',
    Images: 'x:1,y:1',
    'Pod Labels': 'app=job,tier=back',
  });
});
