import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { lastAppliedAnnotation } from '../../../../src/apimachinery/last-applied.ts';
import { collectionsToPrune, prunedKinds, prunedObjects } from '../../../../src/cli/apply/prune-plan.ts';
import type { ApiResource } from '../../../../src/cli/objects/discovery.ts';

const resource = (kind: string, group = '', namespaced = true, version = 'v1'): ApiResource => ({
  group,
  version,
  kind,
  plural: `${kind.toLowerCase()}s`,
  namespaced,
  singular: kind.toLowerCase(),
  shortNames: [],
  categories: [],
  verbs: ['list', 'delete'],
  subresources: [],
});

const all = [
  resource('ConfigMap'),
  resource('Secret'),
  resource('Namespace', '', false),
  resource('PersistentVolume', '', false),
  resource('Deployment', 'apps'),
  resource('Event'),
];

describe('prunedKinds', () => {
  it('names the usual kinds that the server serves, and none without namespace', () => {
    assert.deepEqual(
      prunedKinds(all, []).map(({ kind }) => kind),
      ['ConfigMap', 'Secret', 'Deployment'],
    );
  });

  it('names exactly the kinds of the allowlist', () => {
    const kinds = prunedKinds(all, ['core/v1/Namespace', 'apps/v1/Deployment']);
    assert.deepEqual(
      kinds.map(({ kind }) => kind),
      ['Namespace', 'Deployment'],
    );
  });

  it('refuses a word of the allowlist that is not a kind of the server', () => {
    for (const word of [
      'core/v1/Configmap',
      'apps/v2/Deployment',
      'ConfigMap',
      'a/b/c/d',
      'apps/v1/Deployment/x',
      '',
    ])
      assert.throws(() => prunedKinds(all, ['core/v1/Secret', word]), /invalid GroupVersionKind|no kind/);
  });
});

describe('collectionsToPrune', () => {
  it('reads each kind in each namespace, and kinds without namespace once', () => {
    const places = collectionsToPrune(all.slice(0, 3), ['b', 'a', 'b', ''], 'app=web').map(
      ({ resource: { kind }, namespace, labelSelector }) => `${namespace}/${kind} ${labelSelector}`,
    );
    assert.deepEqual(places, [
      'a/ConfigMap app=web',
      'a/Secret app=web',
      'b/ConfigMap app=web',
      'b/Secret app=web',
      '/Namespace app=web',
    ]);
  });

  it('reads no namespace if no manifest has one', () => {
    assert.deepEqual(collectionsToPrune(all.slice(0, 2), [], undefined), []);
    assert.deepEqual(collectionsToPrune(all.slice(0, 2), [''], undefined), []);
  });
});

describe('prunedObjects', () => {
  const collection = {
    resource: resource('ConfigMap'),
    namespace: 'shop',
    labelSelector: undefined,
    fieldSelector: undefined,
  };
  const object = (metadata: object) => ({
    metadata: {
      name: 'old',
      namespace: 'shop',
      uid: 'u1',
      labels: { app: 'web' },
      annotations: { [lastAppliedAnnotation]: '{}' },
      ...metadata,
    },
  });
  const rule = { labelSelector: 'app=web', applied: new Set(['applied']), needsAnnotation: true };
  const pruned = (metadata: object, more: object = {}) =>
    prunedObjects(collection, [object(metadata)], { ...rule, ...more }).length === 1;

  it('selects an object that was applied before and is not applied now', () => {
    assert.ok(pruned({}));
    assert.ok(pruned({}, { labelSelector: undefined }));
  });

  it('keeps an object that was applied now, under any of its names', () => {
    assert.ok(!pruned({ uid: 'applied' }));
  });

  it('keeps an object that apply never wrote, unless it is a member of a set', () => {
    assert.ok(!pruned({ annotations: {} }));
    assert.ok(!pruned({ annotations: undefined }));
    assert.ok(pruned({ annotations: {} }, { needsAnnotation: false }));
  });

  it('keeps an object of another namespace, although the server listed it', () => {
    assert.ok(!pruned({ namespace: 'kube-system' }));
    assert.ok(!pruned({ namespace: undefined }));
  });

  it('keeps an object without the labels, although the server listed it', () => {
    assert.ok(!pruned({ labels: { app: 'wbe' } }));
    assert.ok(!pruned({ labels: undefined }));
  });

  it('keeps an object without a uid or a name, which no precondition could name', () => {
    assert.ok(!pruned({ uid: undefined }));
    assert.ok(!pruned({ name: '' }));
  });

  it('refuses an invalid selector instead of selecting everything', () => {
    assert.throws(() => pruned({}, { labelSelector: 'app in (' }));
  });
});
