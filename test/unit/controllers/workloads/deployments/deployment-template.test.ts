/**
 * Match of a Deployment with the ReplicaSet of its template: a changed hash name would roll every existing
 * Deployment.
 */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import {
  findNewReplicaSet,
  oldestFirst,
  sameTemplate,
  templateHash,
} from '../../../../../src/controllers/workloads/deployments/deployment-template.ts';
import { at, container, deployment, replicaSet } from '../../objects.ts';

const template = deployment(1).spec.template;
const withMetadata = (metadata: Partial<typeof template.metadata>) => ({
  ...template,
  metadata: { ...template.metadata, ...metadata },
});
const withSpec = (spec: object) => ({ ...template, spec: { ...template.spec, ...spec } });
const reversed = (value: object) => Object.fromEntries(Object.entries(value).reverse());

it('the name of a template is the same as in every earlier release', () => {
  assert.equal(templateHash(template, 0), '6585dcb868');
  assert.equal(templateHash(template, undefined), templateHash(template, 0));
  assert.equal(templateHash(template, 1), '84b975df4c');
  const full = withMetadata({
    labels: { b: '1', a: '2' },
    annotations: { n: 'x' },
    finalizers: ['example.com/f', 'g'],
  });
  assert.equal(templateHash(full, 0), '86bfbc8798');
});

it('templates with the same meaning are equal', () => {
  const { annotations: _annotations, labels: _labels, ...bare } = template.metadata;
  const containers = template.spec.containers.map(reversed);
  const [one, ...others] = [
    template,
    withMetadata({ annotations: {}, finalizers: [] }),
    withMetadata({ labels: { ...template.metadata.labels, 'pod-template-hash': 'x' } }),
    withSpec({ containers }),
    withSpec({ nodeName: null, hostname: undefined }),
  ];
  for (const [index, other] of others.entries())
    assert.ok(one && sameTemplate(one, other as typeof template), String(index));
  const unlabelled = { ...template, metadata: bare };
  assert.ok(sameTemplate(unlabelled, withMetadata({ labels: {} })));
});

it('templates differ if any other field differs', () => {
  const others = [
    withMetadata({ labels: { app: 'other' } }),
    withMetadata({ annotations: { a: 'b' } }),
    withMetadata({ finalizers: ['example.com/f'] }),
    withSpec({ hostname: 'h' }),
    withSpec({ containers: [container(), container({ name: 'two' })] }),
    withSpec({ containers: [container({ args: ['a', 'b'] })] }),
    withSpec({ containers: [container({ args: ['a,b'] })] }),
  ];
  for (const other of others) assert.equal(sameTemplate(template, other), false);
  assert.equal(new Set(others.map((other) => templateHash(other, 0))).size, others.length);
});

it('the oldest ReplicaSet with the template belongs to the Deployment; equal ages are ordered by name', () => {
  const set = (name: string, created: number) => {
    const one = replicaSet(name, 1);
    return { ...one, metadata: { ...one.metadata, creationTimestamp: at(created) } };
  };
  const other = {
    ...set('other', 0),
    spec: { ...set('other', 0).spec, template: withSpec({ hostname: 'h' }) },
  };
  const sets = [set('d', 9), set('c', 5), set('b', 5), other];
  assert.deepEqual(
    oldestFirst(sets).map(({ metadata }) => metadata.name),
    ['other', 'b', 'c', 'd'],
  );
  assert.equal(findNewReplicaSet(deployment(1), sets)?.metadata.name, 'b');
  assert.equal(findNewReplicaSet(deployment(1), [other]), undefined);
});
