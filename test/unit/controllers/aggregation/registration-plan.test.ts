import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { APIService } from '../../../../src/api/apiregistration/v1/api-service.ts';
import { type LocalService, localServices } from '../../../../src/api/apiregistration/v1/local-services.ts';
import { deploymentResource } from '../../../../src/api/apps/v1/deployment.ts';
import { KindSet } from '../../../../src/apimachinery/kind-set.ts';
import type { ResourceDefinition } from '../../../../src/apimachinery/resource-definition.ts';
import { planRegistration } from '../../../../src/controllers/aggregation/registration-plan.ts';

const label = 'kube-aggregator.kubernetes.io/automanaged';
const kinds = new KindSet([deploymentResource as ResourceDefinition]);
const wanted = localServices(kinds).get('v1.apps') as LocalService;
const removable = { ...wanted, isPermanent: false };

const stored = (spec: object, labels?: Record<string, string>, deletionTimestamp?: string): APIService =>
  ({
    ...wanted.draft,
    metadata: {
      name: 'v1.apps',
      uid: 'u',
      ...(labels && { labels }),
      ...(deletionTimestamp && { deletionTimestamp }),
    },
    spec: { ...wanted.draft.spec, ...spec },
  }) as APIService;

const managed = { [label]: 'onstart' };
const claim = { service: { namespace: 'a', name: 'b', port: 443 } };

test('a missing APIService is created', () => {
  assert.deepEqual(planRegistration(wanted, undefined), { type: 'create', draft: wanted.draft });
});

test('a correct APIService is unchanged', () => {
  assert.deepEqual(planRegistration(wanted, stored({}, managed)), { type: 'none' });
});

for (const [what, labels] of [
  ['with the label', managed],
  ['without the label', undefined],
] as const)
  test(`a built-in group that an extension server claims is restored, ${what}`, () => {
    const plan = planRegistration(wanted, stored(claim, labels));
    assert.equal(plan.type, 'update');
    assert.ok(plan.type === 'update');
    assert.equal(plan.service.spec.service, undefined);
    assert.equal(plan.service.metadata.labels?.[label], 'onstart');
  });

test('an extension server for a version of custom resources is accepted', () => {
  assert.deepEqual(planRegistration(removable, stored(claim)), { type: 'none' });
});

test('only the APIService of a kind that no longer exists is removed', () => {
  assert.deepEqual(planRegistration(undefined, stored({}, managed)), { type: 'remove', uid: 'u' });
  assert.deepEqual(planRegistration(undefined, stored(claim)), { type: 'none' });
});

test('an APIService that is being deleted is awaited', () => {
  assert.deepEqual(planRegistration(wanted, stored(claim, managed, '2026-01-01T00:00:00Z')), {
    type: 'none',
  });
});
