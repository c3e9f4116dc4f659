import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { APIService } from '../../../../src/api/apiregistration/v1/api-service.ts';
import type { DelegatedVersion } from '../../../../src/apiserver/delegation.ts';
import {
  entryAfter,
  inOrder,
  resourcesOf,
} from '../../../../src/kube-apiserver/aggregation/discovery-plan.ts';

const list = (...resources: object[]) => ({ groupVersion: 'ext.example/v1', resources });

test('resources have their subresources, with their own groups', () => {
  const found = resourcesOf(
    list(
      {
        name: 'things',
        singularName: 'thing',
        namespaced: true,
        kind: 'Thing',
        verbs: ['get'],
        shortNames: ['th'],
      },
      { name: 'things/scale', kind: 'Scale', group: 'autoscaling', version: 'v1', verbs: ['update'] },
      { name: 'worlds', kind: 'World', namespaced: false, verbs: ['list'] },
    ),
  );
  assert.deepEqual(found, [
    {
      resource: 'things',
      responseKind: { group: 'ext.example', version: 'v1', kind: 'Thing' },
      verbs: ['get'],
      scope: 'Namespaced',
      singularResource: 'thing',
      shortNames: ['th'],
      subresources: [
        {
          subresource: 'scale',
          responseKind: { group: 'autoscaling', version: 'v1', kind: 'Scale' },
          verbs: ['update'],
        },
      ],
    },
    {
      resource: 'worlds',
      responseKind: { group: 'ext.example', version: 'v1', kind: 'World' },
      verbs: ['list'],
      scope: 'Cluster',
      singularResource: '',
    },
  ]);
});

for (const [what, document] of [
  ['a Status', { kind: 'Status' }],
  ['a resource without verbs', list({ name: 'a' })],
  ['too many resources', list(...Array.from({ length: 1001 }, (_, i) => ({ name: `a${i}`, verbs: [] })))],
] as const)
  test(`${what} is not a discovery document`, () => {
    assert.throws(() => resourcesOf(document), /^Error: its discovery /);
  });

const service = (group: string, version: string, groupPriorityMinimum: number, versionPriority: number) =>
  ({ spec: { group, version, groupPriorityMinimum, versionPriority } }) as APIService;

test('former resources are kept and marked as stale while the server does not answer', () => {
  const one = service('a', 'v1', 100, 10);
  const current = entryAfter(one, [{ resource: 'things' }], undefined);
  assert.equal(current.freshness, 'Current');
  assert.deepEqual(entryAfter(one, undefined, current), { ...current, freshness: 'Stale' });
  assert.deepEqual(entryAfter(one, undefined, undefined).resources, []);
});

test('groups are sorted by priority, the highest first, and the versions of a group stay together', () => {
  const entry = (...of: Parameters<typeof service>): DelegatedVersion =>
    entryAfter(service(...of), [], undefined);
  const ordered = inOrder([
    entry('b', 'v1', 100, 1),
    entry('a', 'v1', 100, 5),
    entry('b', 'v2', 100, 9),
    entry('c', 'v1', 200, 1),
  ]);
  assert.deepEqual(
    ordered.map(({ group, version }) => `${group}/${version}`),
    ['c/v1', 'a/v1', 'b/v2', 'b/v1'],
  );
});
