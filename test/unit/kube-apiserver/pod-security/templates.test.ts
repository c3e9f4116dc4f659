import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { KubeObject } from '../../../../src/apimachinery/meta.ts';
import { hasTemplate, templateOf } from '../../../../src/kube-apiserver/pod-security/templates.ts';

const template = { metadata: {}, spec: { containers: [] } };
const kinds: [group: string, plural: string, object: object][] = [
  ['', 'podtemplates', { template }],
  ['', 'replicationcontrollers', { spec: { template } }],
  ['apps', 'replicasets', { spec: { template } }],
  ['apps', 'deployments', { spec: { template } }],
  ['apps', 'statefulsets', { spec: { template } }],
  ['apps', 'daemonsets', { spec: { template } }],
  ['batch', 'jobs', { spec: { template } }],
  ['batch', 'cronjobs', { spec: { jobTemplate: { spec: { template } } } }],
];
for (const [group, plural, object] of kinds)
  test(`pods are made from ${plural}`, () => {
    const kind = { group, plural };
    assert.ok(hasTemplate(kind));
    assert.equal(templateOf(kind, object as KubeObject), template);
  });

test('pods are made from no other kind', () => {
  for (const kind of [
    { group: '', plural: 'pods' },
    { group: 'extensions', plural: 'deployments' },
    { group: 'example.org', plural: 'jobs' },
  ]) {
    assert.ok(!hasTemplate(kind));
    assert.equal(templateOf(kind, { spec: { template } } as unknown as KubeObject), undefined);
  }
  const none = { spec: {} } as unknown as KubeObject;
  assert.equal(templateOf({ group: '', plural: 'replicationcontrollers' }, none), undefined);
});
