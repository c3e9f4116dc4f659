/** Objects that a controller adopts and releases, and their state on the server afterwards. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type ReplicaSet, replicaSetResource } from '../../../src/api/apps/v1/replica-set.ts';
import { type Pod, podResource } from '../../../src/api/core/v1/pod/pod.ts';
import { selectorFromLabelSelector } from '../../../src/apimachinery/labels.ts';
import type { KubeObject, OwnerReference } from '../../../src/apimachinery/meta.ts';
import { applyMergePatch } from '../../../src/apimachinery/patch-merge.ts';
import { newNotFound } from '../../../src/apimachinery/status-error.ts';
import type { Client } from '../../../src/client/client.ts';
import { carryOutClaims, controllerReference, planClaims } from '../../../src/controller-runtime/claim.ts';
import { at, ownedBy, pod, replicaSet } from '../controllers/objects.ts';

const set = replicaSet('web', 1);
const selector = selectorFromLabelSelector(set.spec.selector);
const mine: OwnerReference = { ...ownedBy('ReplicaSet', 'web') };
const note: OwnerReference = { ...ownedBy('ConfigMap', 'note'), controller: false };
const names = (objects: readonly KubeObject[]) => objects.map(({ metadata }) => metadata.name);

describe('the claims of a controller', () => {
  const claim = (one: Pod, owner = set, adoptable?: (pod: Pod) => boolean) => {
    const { owned, adopt, release } = planClaims(owner, selector, [one], adoptable);
    return [
      ...names(owned).map(() => 'owned'),
      ...names(adopt).map(() => 'adopt'),
      ...names(release).map(() => 'release'),
    ].join();
  };
  const other = { labels: { app: 'other' } };
  const going = { deletionTimestamp: at(1) };
  const table: [string, Pod['metadata'] | object, string][] = [
    ['its own object', { ownerReferences: [mine] }, 'owned'],
    ['its own object that is being deleted', { ownerReferences: [mine], ...going }, 'owned'],
    ['its own object with other labels', { ownerReferences: [mine], ...other }, 'release'],
    [
      'its own object with other labels that is being deleted',
      { ownerReferences: [mine], ...other, ...going },
      '',
    ],
    ['an object without an owner', {}, 'adopt'],
    ['an object of an owner that is not its controller', { ownerReferences: [note] }, 'adopt'],
    ['an object with other labels and without an owner', other, ''],
    ['an object without an owner that is being deleted', going, ''],
    ['an object of another controller', { ownerReferences: [ownedBy('ReplicaSet', 'other')] }, ''],
  ];
  for (const [title, metadata, expected] of table)
    it(`have the plan "${expected || 'ignore'}" for ${title}`, () =>
      assert.equal(claim(pod('p', { metadata })), expected));

  it('exclude pods that the filter rejects', () => {
    assert.equal(
      claim(pod('p'), set, () => false),
      '',
    );
  });
  it('include only its present objects while the owner is being deleted', () => {
    const dying = replicaSet('web', 1, { metadata: { ...set.metadata, ...going } });
    assert.equal(claim(pod('p'), dying), '');
    assert.equal(claim(pod('p', { metadata: { ownerReferences: [mine], ...other } }), dying), '');
    assert.equal(claim(pod('p', { metadata: { ownerReferences: [mine] } }), dying), 'owned');
  });
});

it('claimed objects have a complete reference to their controller', () => {
  assert.deepEqual(controllerReference(replicaSetResource, set), {
    apiVersion: 'apps/v1',
    kind: 'ReplicaSet',
    name: 'web',
    uid: 'uid-web',
    controller: true,
    blockOwnerDeletion: true,
  });
});

/** A server that has the set, if there is one, and these pods. */
function serverWith(live: ReplicaSet | undefined, pods: readonly Pod[]) {
  const stored = new Map(pods.map((one) => [one.metadata.name, one]));
  let asked = 0;
  const client = {
    resource: (kind: unknown) =>
      kind === podResource
        ? {
            patch: async (name: string, namespace: string, type: string, body: unknown) => {
              assert.deepEqual([namespace, type], ['default', 'merge']);
              const before = stored.get(name);
              if (!before) throw newNotFound(podResource, name);
              const next = applyMergePatch(before, body) as Pod;
              // The server compares these preconditions.
              assert.equal(next.metadata.resourceVersion, before.metadata.resourceVersion);
              assert.equal(next.metadata.uid, before.metadata.uid);
              stored.set(name, next);
              return next;
            },
          }
        : {
            get: async (name: string, namespace: string) => {
              asked++;
              assert.deepEqual([name, namespace], ['web', 'default']);
              return live ?? Promise.reject(newNotFound(replicaSetResource, name));
            },
          },
  } as unknown as Client;
  return {
    ownersOf: (name: string) => stored.get(name)?.metadata.ownerReferences?.map(({ uid }) => uid),
    asked: () => asked,
    carryOut: async (claims: Partial<Parameters<typeof carryOutClaims<Pod, ReplicaSet>>[4]>) =>
      names(
        await carryOutClaims(client, podResource, replicaSetResource, set, {
          owned: [],
          adopt: [],
          release: [],
          ...claims,
        }),
      ),
  };
}

describe('claims that are carried out', () => {
  const orphan = pod('orphan');
  const noted = pod('noted', { metadata: { ownerReferences: [note] } });
  const stray = pod('stray', { metadata: { ownerReferences: [note, mine] } });

  it('add an owner to the earlier owners of an adopted object', async () => {
    const server = serverWith(set, [orphan, noted]);
    assert.deepEqual(await server.carryOut({ owned: [pod('own')], adopt: [orphan, noted] }), [
      'own',
      'orphan',
      'noted',
    ]);
    assert.deepEqual(server.ownersOf('orphan'), ['uid-web']);
    assert.deepEqual(server.ownersOf('noted'), ['uid-note', 'uid-web']);
  });

  it('remove only this owner from a released object', async () => {
    const server = serverWith(set, [stray]);
    assert.deepEqual(await server.carryOut({ release: [stray] }), []);
    assert.deepEqual(server.ownersOf('stray'), ['uid-note']);
    assert.equal(server.asked(), 0, 'no request is made');
  });

  it('ignore an object that was deleted in the meantime', async () => {
    const server = serverWith(set, []);
    assert.deepEqual(await server.carryOut({ adopt: [orphan], release: [stray] }), []);
  });

  const refusals: [string, ReplicaSet | undefined][] = [
    ['does not exist', undefined],
    ['was replaced', { ...set, metadata: { ...set.metadata, uid: 'another' } }],
    ['is being deleted', { ...set, metadata: { ...set.metadata, deletionTimestamp: at(1) } }],
  ];
  for (const [title, live] of refusals)
    it(`adopt no object for an owner that ${title}`, async () => {
      const server = serverWith(live, [orphan]);
      assert.deepEqual(await server.carryOut({ owned: [pod('own')], adopt: [orphan] }), ['own']);
      assert.equal(server.ownersOf('orphan'), undefined);
    });
});
