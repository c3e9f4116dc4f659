import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { deleteEffects, effectsText } from '../../../../src/dashboard/app/actions/plan/delete-effects.ts';
import { allows } from '../../../../src/dashboard/app/cluster/plan/access-rules.ts';
import { kindsOf } from '../../../../src/dashboard/app/cluster/plan/discovery.ts';
import { type Owned, ownersOf, treeBelow } from '../../../../src/dashboard/app/cluster/plan/owner-tree.ts';
import { kindHref, objectHref, placeOf } from '../../../../src/dashboard/app/shell/plan/addresses.ts';
import { kindGroups, titleOf } from '../../../../src/dashboard/app/shell/plan/kind-groups.ts';

const resource = (name: string, kind: string) => ({
  resource: name,
  responseKind: { kind },
  scope: 'Namespaced' as const,
  verbs: ['list'],
  subresources: [{ subresource: 'status' }],
});

describe('the discovery', () => {
  it('gives each kind once, in the first version that serves it', () => {
    const kinds = kindsOf({
      items: [
        {
          metadata: { name: 'apps' },
          versions: [
            { version: 'v2', resources: [resource('deployments', 'Deployment')] },
            { version: 'v1', resources: [resource('deployments', 'Deployment'), resource('old', 'Old')] },
          ],
        },
        { versions: [{ version: 'v1', resources: [resource('pods', 'Pod')] }] },
      ],
    });
    assert.deepEqual(
      kinds.map(({ key, version, subresources }) => [key, version, subresources]),
      [
        ['deployments.apps', 'v2', ['status']],
        ['old.apps', 'v1', ['status']],
        ['pods', 'v1', ['status']],
      ],
    );
    assert.deepEqual(
      kindGroups(kinds).map((group) => [group.title, group.kinds.map(titleOf)]),
      [
        ['Workloads', ['Pods', 'Deployments']],
        ['More', ['Old']],
      ],
    );
  });

  it('names objects of a kind by its plural, in the letters of the kind', () => {
    assert.equal(titleOf({ kind: 'NetworkPolicy', plural: 'networkpolicies' }), 'NetworkPolicies');
    assert.equal(titleOf({ kind: 'Endpoints', plural: 'endpoints' }), 'Endpoints');
  });
});

describe('rights', () => {
  const rules = {
    resourceRules: [
      { verbs: ['get', 'list'], apiGroups: [''], resources: ['pods', 'pods/log'] },
      { verbs: ['update'], apiGroups: [''], resources: ['configmaps'], resourceNames: ['mine'] },
      { verbs: ['*'], apiGroups: ['apps'], resources: ['*'] },
    ],
  };
  const cases: readonly [
    verb: string,
    group: string,
    plural: string,
    subresource: string,
    name: string,
    may: boolean,
  ][] = [
    ['list', '', 'pods', '', '', true],
    ['delete', '', 'pods', '', '', false],
    ['get', '', 'pods', 'log', '', true],
    ['get', '', 'pods', 'exec', '', false],
    ['update', '', 'configmaps', '', '', false],
    ['update', '', 'configmaps', '', 'mine', true],
    ['update', '', 'configmaps', '', 'other', false],
    ['delete', 'apps', 'deployments', '', '', true],
    ['list', 'batch', 'jobs', '', '', false],
  ];
  for (const [verb, group, plural, subresource, name, may] of cases)
    it(`${may ? 'allow' : 'refuse'} ${verb} ${group}/${plural} ${subresource} ${name}`, () => {
      assert.equal(allows(rules, { verb, group, plural, subresource, name }), may);
    });
});

const owned = (kind: string, name: string, owners: readonly string[] = [], isController = true): Owned => ({
  key: `${kind.toLowerCase()}s`,
  kind,
  metadata: {
    name,
    namespace: 'shop',
    uid: `uid-${name}`,
    ownerReferences: owners.map((owner) => ({
      apiVersion: 'v1',
      kind: 'Any',
      name: owner,
      uid: `uid-${owner}`,
      controller: isController,
    })),
  },
});

describe('owners', () => {
  const deployment = owned('Deployment', 'web');
  const set = owned('ReplicaSet', 'web-1', ['web']);
  const pod = owned('Pod', 'web-1-a', ['web-1']);
  const shared = owned('Secret', 'shared', ['web', 'elsewhere'], false);
  const others = [owned('Pod', 'other'), shared];
  const objects = [pod, set, deployment, ...others];

  it('of an object are listed with the topmost first', () => {
    assert.deepEqual(
      ownersOf(pod, objects).map(({ metadata }) => metadata.name),
      ['web', 'web-1'],
    );
  });

  it('have a tree of the objects that they own', () => {
    const { children } = treeBelow(deployment, objects);
    assert.deepEqual(
      children.map(({ object, children: inner }) => [object.metadata.name, inner.length]),
      [
        ['web-1', 1],
        ['shared', 0],
      ],
    );
  });

  it('end at a cycle', () => {
    const [a, b] = [owned('Pod', 'a', ['b']), owned('Pod', 'b', ['a'])];
    assert.deepEqual(
      ownersOf(a, [a, b]).map(({ metadata }) => metadata.name),
      ['b'],
    );
    assert.equal(treeBelow(a, [a, b]).children.length, 1);
  });

  it('are deleted with the objects that no other object owns', () => {
    const { gone, needsName } = deleteEffects([deployment], objects);
    assert.equal(effectsText(gone), '1 Pod, 1 ReplicaSet');
    assert.equal(needsName, false);
  });

  it('replace a deleted pod, which the effects of the deletion mention', () => {
    assert.match(deleteEffects([pod], objects).remarks.join(), /creates a new one/);
  });

  it('that are deleted together leave nothing of what they share, and are not counted themselves', () => {
    const [one, two] = [owned('Secret', 'both', ['a', 'b']), owned('Secret', 'half', ['a', 'c'])];
    const roots = [owned('Deployment', 'a'), owned('Deployment', 'b')];
    const { gone } = deleteEffects(roots, [...roots, one, two]);
    assert.deepEqual(
      gone.map(({ metadata }) => metadata.name),
      ['both'],
    );
  });

  it('replace some of several deleted pods, which the effects count', () => {
    assert.match(deleteEffects([pod, owned('Pod', 'other')], objects).remarks.join(), /place of 1 of them/);
  });
});

describe('a deletion', () => {
  const namespace: Owned = {
    key: 'namespaces',
    kind: 'Namespace',
    metadata: { name: 'shop', uid: 'n', ownerReferences: [] },
  };

  it('of a namespace deletes everything in it, and requires its name', () => {
    const { gone, needsName } = deleteEffects([namespace], [owned('Pod', 'a'), owned('Pod', 'b')]);
    assert.deepEqual([effectsText(gone), needsName], ['2 Pods', true]);
    const other = { ...namespace, metadata: { ...namespace.metadata, name: 'other', uid: 'o' } };
    const elsewhere = {
      ...owned('Pod', 'c'),
      metadata: { ...owned('Pod', 'c').metadata, namespace: 'other' },
    };
    const both = deleteEffects(
      [namespace, other],
      [owned('Pod', 'a'), elsewhere, owned('Node', 'n', [], false)],
    );
    assert.ok(both.gone.some(({ metadata }) => metadata.name === 'c'));
  });

  it('of a CustomResourceDefinition deletes the objects of its kind, and requires its name', () => {
    const definition = { ...namespace, key: 'customresourcedefinitions.apiextensions.k8s.io' };
    const { gone, needsName } = deleteEffects(
      [definition],
      [owned('Boat', 'a'), owned('Pod', 'b')],
      ['boats'],
    );
    assert.deepEqual([effectsText(gone), needsName], ['1 Boat', true]);
  });
});

describe('addresses', () => {
  it('lead to kinds and objects, whatever their names contain', () => {
    assert.equal(kindHref('pods', { q: 'app=web x' }), '/dashboard/k/pods?q=app%3Dweb+x');
    const href = objectHref('boats.sea.example.org', '', 'a/b?c');
    const place = placeOf(href, '');
    assert.deepEqual(place.segments, ['k', 'boats.sea.example.org', '-', 'a/b?c']);
  });

  it('with a broken escape are read unchanged', () => {
    assert.deepEqual(placeOf('/dashboard/k/%zz', '').segments, ['k', '%zz']);
  });
});
