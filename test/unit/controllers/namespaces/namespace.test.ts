/**
 * Deletion of the objects in a terminating namespace, conditions about the rest, and objects that are never
 * touched.
 */
import assert from 'node:assert/strict';
import { beforeEach, describe, it } from 'node:test';
import { configMapResource } from '../../../../src/api/core/v1/config-map.ts';
import { type Namespace, namespaceResource } from '../../../../src/api/core/v1/namespace.ts';
import { nodeResource } from '../../../../src/api/core/v1/node/node.ts';
import { podResource } from '../../../../src/api/core/v1/pod/pod.ts';
import { secretResource } from '../../../../src/api/core/v1/secret.ts';
import { newInternalError } from '../../../../src/apimachinery/status-error.ts';
import { namespaceController } from '../../../../src/controllers/namespaces/namespace.ts';
import { at, meta, node, pod } from '../objects.ts';
import { ScriptedWorld } from '../scripted-world.ts';

const space = (over: Partial<Namespace['metadata']> = {}, finalizers = ['kubernetes']): Namespace => ({
  apiVersion: 'v1',
  kind: 'Namespace',
  metadata: { ...meta('ending', { deletionTimestamp: at(1), ...over }), namespace: undefined },
  spec: { finalizers },
  status: { phase: 'Active' },
});
const map = (name: string, namespace = 'ending', over = {}) => ({
  apiVersion: 'v1' as const,
  kind: 'ConfigMap' as const,
  metadata: meta(name, { namespace, ...over }),
});
const heldPod = (name: string) =>
  pod(name, { metadata: { namespace: 'ending', finalizers: ['example.com/hold'] } });
const secret = (name: string) => ({ ...map(name), kind: 'Secret' as const, type: 'Opaque' });
const held = (name: string) => map(name, 'ending', { finalizers: ['example.com/hold'] });

let world: ScriptedWorld;
beforeEach(() => {
  world = new ScriptedWorld(namespaceController);
});
const reconcile = () => world.reconcile('ending');
const stored = () => world.stored(namespaceResource, 'ending');
const conditions = () =>
  Object.fromEntries(
    (stored()?.status?.conditions ?? []).map(({ type, status, message }) => [type, `${status} ${message}`]),
  );

describe('a namespace that ends', () => {
  it('does not block other work while very many objects are deleted', async () => {
    world.put(namespaceResource, space());
    for (let index = 0; index < 1_000; index++) world.store(configMapResource, map(`map-${index}`));
    const most = await world.maxAskedInOneTurn(reconcile);
    assert.deepEqual(world.names(configMapResource), []);
    assert.ok(most <= 150, `${most} requests in one turn of the event loop`);
  });

  it('loses exactly its own objects, and then exactly its own finalizer', async () => {
    world.put(namespaceResource, space({}, ['kubernetes', 'example.com/mine']));
    for (const [name, namespace] of [
      ['a', 'ending'],
      ['b', 'ending'],
      ['c', 'other'],
    ] as const)
      world.store(configMapResource, map(name, namespace));
    world.store(nodeResource, node('n1'));
    assert.equal(await reconcile(), undefined);
    assert.deepEqual([world.names(configMapResource), world.names(nodeResource)], [['c'], ['n1']]);
    assert.deepEqual(stored()?.spec?.finalizers, ['example.com/mine']);
    assert.equal(stored()?.status?.phase, 'Terminating');
    assert.equal(conditions().NamespaceDeletionContentFailure?.split(' ')[0], 'False');
  });

  it('reports the remaining objects and finalizers, checks again, and keeps its finalizer until then', async () => {
    world.put(namespaceResource, space());
    world.store(configMapResource, held('a'));
    world.store(configMapResource, held('b'));
    assert.deepEqual(await reconcile(), { requeueAfter: 5_000 });
    assert.deepEqual(stored()?.spec?.finalizers, ['kubernetes']);
    const said = conditions();
    assert.match(said.NamespaceContentRemaining ?? '', /^True .*configmaps\. has 2 resource instances/);
    assert.match(
      said.NamespaceFinalizersRemaining ?? '',
      /^True .*example\.com\/hold in 2 resource instances/,
    );
    assert.ok(world.all(configMapResource).every(({ metadata }) => metadata.deletionTimestamp));
  });

  it('keeps all other objects until its last pod is deleted', async () => {
    world.put(namespaceResource, space());
    world.store(configMapResource, map('a'));
    world.store(podResource, heldPod('p'));
    world.store(podResource, pod('q', { metadata: { namespace: 'ending' } }));
    assert.deepEqual(await reconcile(), { requeueAfter: 5_000 });
    assert.ok(world.all(podResource).every(({ metadata }) => metadata.deletionTimestamp));
    assert.deepEqual(
      world.all(configMapResource).map(({ metadata }) => metadata.deletionTimestamp),
      [undefined],
    );
    assert.match(
      conditions().NamespaceContentRemaining ?? '',
      /^True .*remaining: pods\. has 2 resource instances$/,
    );
    assert.equal(conditions().NamespaceDeletionContentFailure?.split(' ')[0], 'False');
    assert.ok(!world.asked.some((request) => request.startsWith('finalize')));

    for (const key of ['ending/p', 'ending/q']) world.take(podResource, key);
    world.sync(namespaceResource);
    assert.equal(await reconcile(), undefined);
    assert.deepEqual(world.names(configMapResource), []);
    assert.ok(world.asked.some((request) => request.startsWith('finalize')));
  });

  it('keeps all other objects while a pod cannot be deleted, and reports the failure', async () => {
    world.put(namespaceResource, space());
    world.store(configMapResource, map('a'));
    world.store(podResource, pod('p', { metadata: { namespace: 'ending' } }));
    world.refuse = (verb, name) => (verb === 'delete' && name === 'p' ? newInternalError('no') : undefined);
    await assert.rejects(reconcile(), /no/);
    assert.deepEqual(world.names(configMapResource), ['a']);
    assert.match(conditions().NamespaceDeletionContentFailure ?? '', /^True .*no/);
  });

  it('requests each deletion once, and writes each condition once', async () => {
    world.put(namespaceResource, space());
    world.store(configMapResource, held('a'));
    await reconcile();
    world.sync(namespaceResource);
    const before = world.asked.length;
    assert.deepEqual(await reconcile(), { requeueAfter: 5_000 });
    const since = world.asked.slice(before).filter((request) => !request.startsWith('list'));
    assert.deepEqual(since, []);
  });

  it('loses the other objects if one deletion fails, reports the failure, and stays', async () => {
    world.put(namespaceResource, space());
    world.store(configMapResource, map('a'));
    world.store(secretResource, secret('s'));
    world.refuse = (verb, name) => (verb === 'delete' && name === 's' ? newInternalError('no') : undefined);
    await assert.rejects(reconcile(), /no/);
    assert.deepEqual([world.names(configMapResource), world.names(secretResource)], [[], ['s']]);
    assert.match(conditions().NamespaceDeletionContentFailure ?? '', /^True .*no/);
    assert.deepEqual(stored()?.spec?.finalizers, ['kubernetes']);
  });

  it('does not delete a new object with the name of a deleted one', async () => {
    world.put(namespaceResource, space());
    world.store(configMapResource, map('a'));
    world.refuse = (verb, name) => {
      if (verb === 'delete' && name === 'a')
        world.store(configMapResource, map('a', 'ending', { uid: 'later' }));
      return undefined;
    };
    await assert.rejects(reconcile(), /another by now/);
    assert.deepEqual(world.names(configMapResource), ['a']);
  });

  it('causes no error if it is already deleted', async () => {
    world.seen.put(namespaceResource, space());
    assert.equal(await reconcile(), undefined);
    assert.ok(!world.asked.some((request) => request.startsWith('finalize')));
  });
});

describe('a namespace is unchanged with all its objects if it', () => {
  const cases: [string, Namespace | undefined][] = [
    ['that stays', space({ deletionTimestamp: undefined })],
    ['with a finalizer of another controller', space({}, ['example.com/mine'])],
    ['without finalizers', { ...space(), spec: undefined }],
    ['that does not exist', undefined],
  ];
  for (const [title, one] of cases)
    it(title, async () => {
      if (one) world.put(namespaceResource, one);
      world.store(configMapResource, map('a'));
      assert.equal(await reconcile(), undefined);
      assert.deepEqual([world.asked, world.names(configMapResource)], [[], ['a']]);
    });
});

it('a namespace is reconciled when it changes, and while it terminates also when an object in it changes', () => {
  world.seen.put(namespaceResource, space());
  world.seen.put(namespaceResource, space({ name: 'stays', uid: 's', deletionTimestamp: undefined }));
  assert.deepEqual(world.keysOf(namespaceResource, space()), ['ending']);
  const keys = (namespace: string) => world.keysOf(configMapResource, map('a', namespace));
  assert.deepEqual([keys('ending'), keys('stays'), keys('unknown')], [['ending'], [], []]);
});
