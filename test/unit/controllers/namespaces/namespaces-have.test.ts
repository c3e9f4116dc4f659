/**
 * Objects of every namespace: a ServiceAccount for pods that name none, and the certificate authority of the
 * cluster.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type ConfigMap, configMapResource } from '../../../../src/api/core/v1/config-map.ts';
import { type Namespace, namespaceResource } from '../../../../src/api/core/v1/namespace.ts';
import { serviceAccountResource } from '../../../../src/api/core/v1/service-account/service-account.ts';
import { newForbidden, newInternalError, newNotFound } from '../../../../src/apimachinery/status-error.ts';
import { validateObjectMeta } from '../../../../src/apimachinery/validate-meta.ts';
import { replaceable } from '../../../../src/base/current.ts';
import { rootCaPublisher } from '../../../../src/controllers/certificates/root-ca-publisher.ts';
import { planRootCa } from '../../../../src/controllers/certificates/root-ca-publisher-plan.ts';
import { serviceAccountController } from '../../../../src/controllers/namespaces/service-account.ts';
import { at, meta } from '../objects.ts';
import { ScriptedWorld } from '../scripted-world.ts';

const space = (over: Partial<Namespace['metadata']> = {}): Namespace => ({
  apiVersion: 'v1',
  kind: 'Namespace',
  metadata: { ...meta('a', over), namespace: undefined },
});
const account = (name: string, over = {}) => ({
  apiVersion: 'v1',
  kind: 'ServiceAccount',
  metadata: meta(name, { namespace: 'a', ...over }),
});
const authority = 'PEM of the authority\n';
const published = (over: Partial<ConfigMap> = {}, more = {}): ConfigMap => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: meta('kube-root-ca.crt', {
    namespace: 'a',
    annotations: { 'kubernetes.io/description': 'mine' },
    ...more,
  }),
  data: { 'ca.crt': authority },
  ...over,
});

const terminating = newForbidden(serviceAccountResource, 'x', 'it ends', [
  { reason: 'NamespaceTerminating', message: 'it ends', field: 'metadata.namespace' },
]);

for (const [what, factory, name] of [
  ['its account', serviceAccountController, 'default'],
  ['the authority', rootCaPublisher(replaceable(authority)), 'kube-root-ca.crt'],
] as const) {
  const ref = name === 'default' ? serviceAccountResource : configMapResource;
  describe(`a namespace and ${what}`, () => {
    it('is created once, and again after a deletion', async () => {
      const world = new ScriptedWorld(factory);
      world.put(namespaceResource, space());
      await world.reconcile('a');
      assert.deepEqual(
        world.all(ref).map(({ metadata }) => [metadata.namespace, metadata.name]),
        [['a', name]],
      );
      world.sync(ref);
      const before = world.asked.length;
      await world.reconcile('a');
      assert.deepEqual(world.asked.slice(before), []);
      world.take(ref, `a/${name}`);
      world.sync(ref);
      await world.reconcile('a');
      assert.deepEqual(world.names(ref), [name]);
    });

    for (const [title, one] of [
      ['that ends', space({ deletionTimestamp: at(1) })],
      ['that does not exist', undefined],
    ] as const)
      it(`is not created in a namespace ${title}`, async () => {
        const world = new ScriptedWorld(factory);
        if (one) world.put(namespaceResource, one);
        await world.reconcile('a');
        assert.deepEqual(world.asked, []);
      });

    it('is no failure if the namespace has ended in the meantime, or another client was faster', async () => {
      for (const refusal of [terminating, newNotFound(namespaceResource, 'a')]) {
        const world = new ScriptedWorld(factory);
        world.put(namespaceResource, space());
        world.refuse = () => refusal;
        await world.reconcile('a');
      }
      const world = new ScriptedWorld(factory);
      world.put(namespaceResource, space());
      world.store(ref, name === 'default' ? account(name) : published());
      await world.reconcile('a');
      assert.deepEqual(world.names(ref), [name]);
    });

    it('is retried when the server fails', async () => {
      const world = new ScriptedWorld(factory);
      world.put(namespaceResource, space());
      world.refuse = () => newInternalError('no');
      await assert.rejects(world.reconcile('a'), /no/);
    });

    it('is reconciled with the namespace and with itself, not with other objects of its kind', () => {
      const world = new ScriptedWorld(factory);
      assert.deepEqual(world.keysOf(namespaceResource, space()), ['a']);
      const named = (one: string) => ({ ...account(one), kind: ref.kind });
      assert.deepEqual(
        [world.keysOf(ref as never, named(name)), world.keysOf(ref as never, named('other'))],
        [['a'], []],
      );
    });
  });
}

describe('the published authority', () => {
  it('is in PEM, with a description', () => {
    const plan = planRootCa('a', authority, undefined);
    assert.ok(plan.type === 'create');
    assert.deepEqual([plan.configMap.apiVersion, plan.configMap.kind], ['v1', 'ConfigMap']);
    assert.deepEqual(plan.configMap.data, { 'ca.crt': authority });
    assert.match(
      plan.configMap.metadata.annotations?.['kubernetes.io/description'] ?? '',
      /certificate authority/,
    );
  });

  for (const [title, existing, expected] of [
    ['is right', published(), 'none'],
    ['is correct and immutable', published({ immutable: true }), 'none'],
    ['was changed', published({ data: { 'ca.crt': 'x' } }), 'update'],
    ['was emptied', published({ data: undefined }), 'update'],
    ['has more', published({ data: { 'ca.crt': authority, more: 'x' } }), 'update'],
    ['has additional binary data', published({ binaryData: { more: 'eA==' } }), 'update'],
    ['has no description', published({}, { annotations: {} }), 'update'],
    ['is immutable with other data', published({ immutable: true, data: {} }), 'remove'],
    ['ends', published({ data: {} }, { deletionTimestamp: at(1) }), 'none'],
  ] as const)
    it(`that ${title}: ${expected}`, () => {
      const plan = planRootCa('a', authority, existing);
      assert.equal(plan.type, expected);
      if (plan.type !== 'update') return;
      assert.deepEqual(plan.configMap.data, { 'ca.crt': authority });
      assert.equal(plan.configMap.binaryData, undefined);
      assert.equal(planRootCa('a', authority, plan.configMap).type, 'none');
    });

  it('is restored as a whole object', () => {
    const mine = { 'example.com/mine': 'yes' };
    const existing = published({ data: {} }, { annotations: mine });
    const plan = planRootCa('a', authority, existing);
    assert.ok(plan.type === 'update');
    const { metadata, ...rest } = plan.configMap;
    assert.deepEqual(rest, { apiVersion: 'v1', kind: 'ConfigMap', data: { 'ca.crt': authority } });
    const { 'kubernetes.io/description': described, ...others } = metadata.annotations ?? {};
    assert.deepEqual([others, typeof described], [mine, 'string']);
  });

  it('is restored, and foreign entries are kept', async () => {
    const world = new ScriptedWorld(rootCaPublisher(replaceable(authority)));
    world.put(namespaceResource, space());
    world.put(configMapResource, published({ data: { 'ca.crt': 'x' } }, { labels: { mine: 'yes' } }));
    await world.reconcile('a');
    const [found] = world.all(configMapResource);
    assert.deepEqual(found?.data, { 'ca.crt': authority });
    assert.deepEqual(found?.metadata.labels, { mine: 'yes' });
    assert.deepEqual(found?.metadata.annotations, { 'kubernetes.io/description': 'mine' });
  });

  it('is restored if other annotations leave no room for the description', () => {
    const annotations = { mine: 'x'.repeat(256 * 1024 - 'mine'.length) };
    const plan = planRootCa('a', authority, published({ data: { 'ca.crt': 'x' } }, { annotations }));
    assert.ok(plan.type === 'update');
    assert.deepEqual(plan.configMap.data, { 'ca.crt': authority });
    assert.deepEqual(validateObjectMeta(plan.configMap.metadata, { namespaced: true }), []);
    assert.equal(planRootCa('a', authority, plan.configMap).type, 'none');
  });

  it('is created again if it cannot be changed, unless it was replaced in the meantime', async () => {
    const world = new ScriptedWorld(rootCaPublisher(replaceable(authority)));
    world.put(namespaceResource, space());
    world.put(configMapResource, published({ immutable: true, data: {} }));
    await world.reconcile('a');
    assert.deepEqual(world.names(configMapResource), []);
    world.sync(configMapResource);
    await world.reconcile('a');
    assert.deepEqual(world.all(configMapResource)[0]?.data, { 'ca.crt': authority });
    // The cache still has the old object.
    world.seen.put(configMapResource, published({ immutable: true, data: {} }, { uid: 'old' }));
    await world.reconcile('a');
    assert.deepEqual(world.names(configMapResource), ['kube-root-ca.crt']);
  });
});
