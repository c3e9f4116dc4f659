import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  applySetId,
  asMember,
  contentsOf,
  parentManifest,
  parentOf,
  servedKinds,
  superset,
} from '../../../../src/cli/apply/apply-set-plan.ts';
import type { ApiResource } from '../../../../src/cli/objects/discovery.ts';

const resource = (kind: string, plural: string, group = '', namespaced = true): ApiResource => ({
  group,
  version: 'v1',
  kind,
  plural,
  namespaced,
  singular: kind.toLowerCase(),
  shortNames: [],
  categories: [],
  verbs: ['list'],
  subresources: [],
});

const all = [
  resource('Secret', 'secrets'),
  resource('ConfigMap', 'configmaps'),
  resource('Deployment', 'deployments', 'apps'),
  resource('Namespace', 'namespaces', '', false),
];
const parent = parentOf(all, 'shop', 'default');

const stored = (
  annotations: object,
  labels: object = { 'applyset.kubernetes.io/id': applySetId(parent) },
) => ({
  metadata: {
    name: 'shop',
    namespace: 'default',
    labels,
    annotations: {
      'applyset.kubernetes.io/tooling': 'kubectl/v1.32.4',
      'applyset.kubernetes.io/contains-group-kinds': 'ConfigMap,Deployment.apps',
      'applyset.kubernetes.io/additional-namespaces': 'a,b',
      ...annotations,
    },
  },
});

describe('parentOf', () => {
  it('reads a Secret unless a resource is named', () => {
    assert.equal(parent.resource.kind, 'Secret');
    assert.equal(parentOf(all, 'configmaps/shop', 'x').resource.kind, 'ConfigMap');
    assert.equal(parentOf(all, 'namespaces/shop', undefined).namespace, '');
  });

  it('refuses a namespaced parent without --namespace, and a name that is missing', () => {
    assert.throws(() => parentOf(all, 'shop', undefined), /namespace is required/);
    assert.throws(() => parentOf(all, 'secrets/', 'x'), /name cannot be blank/);
    assert.throws(() => parentOf(all, 'nosuch/shop', 'x'), /resource type "nosuch"/);
  });
});

describe('contentsOf', () => {
  it('returns the kinds, and the namespaces with that of the parent', () => {
    const { kinds, namespaces } = contentsOf(stored({}), parent, all);
    assert.deepEqual([...kinds], ['ConfigMap', 'Deployment.apps']);
    assert.deepEqual([...namespaces], ['a', 'b', 'default']);
  });

  it('returns no kinds for an empty set', () => {
    const empty = { 'applyset.kubernetes.io/contains-group-kinds': '' };
    assert.equal(contentsOf(stored(empty), parent, all).kinds.size, 0);
  });

  it('reads the older annotation with resources', () => {
    const old = {
      'applyset.kubernetes.io/contains-group-kinds': undefined,
      'applyset.kubernetes.io/contains-group-resources': 'configmaps,deployments.apps',
    };
    const object = JSON.parse(JSON.stringify(stored(old)));
    assert.deepEqual([...contentsOf(object, parent, all).kinds], ['ConfigMap', 'Deployment.apps']);
  });

  it('refuses an object that is not the parent of this set', () => {
    const wrong: readonly (readonly [object, RegExp])[] = [
      [stored({}, {}), /does not have required label/],
      [stored({}, { 'applyset.kubernetes.io/id': 'applyset-x-v1' }), /incorrect value for label/],
      [stored({ 'applyset.kubernetes.io/tooling': 'helm/v3' }), /managed by tooling "helm"/],
      [stored({ 'applyset.kubernetes.io/tooling': 'kubectl/fork/v1' }), /managed by tooling "kubectl\/fork"/],
      [{ metadata: { name: 'shop' } }, /missing required annotation/],
    ];
    for (const [object, message] of wrong)
      assert.throws(() => contentsOf({ ...object }, parent, all), message);
  });
});

describe('asMember', () => {
  it('adds the label of the set, and refuses a manifest that has one', () => {
    const labelled = asMember({ metadata: { name: 'x', labels: { a: 'b' } } }, parent);
    assert.deepEqual(labelled.metadata, {
      name: 'x',
      labels: { a: 'b', 'applyset.kubernetes.io/part-of': applySetId(parent) },
    });
    assert.throws(() => asMember(labelled, parent), /already set in input data/);
  });
});

describe('parentManifest', () => {
  it('names kinds and other namespaces sorted, and the set by the digest of its parent', () => {
    const now = { kinds: new Set(['Secret', 'ConfigMap']), namespaces: new Set(['b', 'default', 'a']) };
    assert.deepEqual(
      parentManifest(parent, superset(now, { kinds: new Set(['Job.batch']), namespaces: new Set() })),
      {
        apiVersion: 'v1',
        kind: 'Secret',
        metadata: {
          name: 'shop',
          namespace: 'default',
          annotations: {
            'applyset.kubernetes.io/tooling': 'kubectl/v1.32.0',
            'applyset.kubernetes.io/contains-group-kinds': 'ConfigMap,Job.batch,Secret',
            'applyset.kubernetes.io/additional-namespaces': 'a,b',
          },
          labels: { 'applyset.kubernetes.io/id': applySetId(parent) },
        },
      },
    );
    assert.match(applySetId(parent), /^applyset-[\w-]{43}-v1$/);
  });
});

describe('servedKinds', () => {
  it('separates kinds that the server no longer serves', () => {
    const kinds = new Set(['Widget.example.com', 'ConfigMap']);
    const { served, gone } = servedKinds({ kinds, namespaces: new Set() }, all);
    assert.deepEqual(
      served.map(({ kind }) => kind),
      ['ConfigMap'],
    );
    assert.deepEqual(gone, ['Widget.example.com']);
  });
});
