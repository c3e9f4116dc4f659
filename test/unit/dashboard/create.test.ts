import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ApiKind } from '../../../src/dashboard/app/cluster/plan/discovery.ts';
import { creationsOf, mayComeLater } from '../../../src/dashboard/app/pages/create/plan/creations.ts';

const kind = (name: string, group: string, more: Partial<ApiKind> = {}): ApiKind => ({
  ...{ key: `${name.toLowerCase()}s${group && `.${group}`}`, group, version: 'v1', kind: name },
  ...{ plural: `${name.toLowerCase()}s`, singular: name.toLowerCase(), namespaced: true },
  ...{ verbs: ['create'], shortNames: [], subresources: [] },
  ...more,
});
const kinds = [
  kind('Pod', ''),
  kind('Namespace', '', { namespaced: false }),
  kind('Scaler', 'scaling.example', { version: 'v2' }),
  kind('Number', '', { verbs: ['list'] }),
];
const created = (...documents: unknown[]) => creationsOf(documents, { kinds, namespace: 'shop' });
const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'a' } };

describe('the objects of a text', () => {
  it('are sent to the namespace that they name, or to the usual one', () => {
    const found = created(pod, { ...pod, metadata: { name: 'b', namespace: 'other' } });
    assert.deepEqual(
      found.map(({ path, object, title }) => [path, object.metadata, title]),
      [
        ['/api/v1/namespaces/shop/pods', { name: 'a', namespace: 'shop' }, 'Pod a'],
        ['/api/v1/namespaces/other/pods', { name: 'b', namespace: 'other' }, 'Pod b'],
      ],
    );
  });

  it('have no namespace if their kind is not namespaced', () => {
    const [found] = created({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'n', namespace: 'x' } });
    assert.deepEqual([found?.path, found?.namespace], ['/api/v1/namespaces', '']);
  });

  it('are sent in the version that they have', () => {
    const [found] = created({ apiVersion: 'scaling.example/v1', kind: 'Scaler', metadata: { name: 's' } });
    assert.equal(found?.path, '/apis/scaling.example/v1/namespaces/shop/scalers');
  });

  it('are the items of a List', () => {
    const list = {
      apiVersion: 'v1',
      kind: 'List',
      items: [pod, { ...pod, metadata: { generateName: 'b-' } }],
    };
    assert.deepEqual(
      created(list).map(({ title }) => title),
      ['Pod a', 'Pod b-'],
    );
  });

  for (const [what, value, problem] of [
    ['a word', 'hello', /not an object/],
    ['an object without a kind', { apiVersion: 'v1', metadata: {} }, /apiVersion and kind/],
    ['a kind that is not served', { ...pod, kind: 'Boat' }, /no kind Boat in the core group/],
    ['a kind of another group', { ...pod, apiVersion: 'apps/v1' }, /no kind Pod in apps/],
    ['a kind that is not created', { ...pod, kind: 'Number' }, /not created/],
  ] as const)
    it(`are not sent if one is ${what}`, () => {
      const [found] = created(value);
      assert.match(found?.problem ?? '', problem);
      assert.equal(found?.path, '');
    });

  it('are sent again later only if they lack a namespace that the same text creates', () => {
    const [space, inside] = created(
      { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'new' } },
      { ...pod, metadata: { name: 'a', namespace: 'new' } },
    );
    assert.ok(space && inside);
    assert.equal(mayComeLater(inside, [space], 404), true);
    assert.equal(mayComeLater(inside, [space], 403), false);
    assert.equal(mayComeLater(inside, [], 404), false);
  });
});
