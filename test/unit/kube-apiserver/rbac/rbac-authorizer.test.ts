/** Decision by roles, however many rules a user has. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { AccessRequest } from '../../../../src/apiserver/authorization/authorizer.ts';
import { Turns } from '../../../../src/apiserver/turns.ts';
import type { Grant, Policy } from '../../../../src/kube-apiserver/rbac/policy.ts';
import { rbacAuthorizer } from '../../../../src/kube-apiserver/rbac/rbac-authorizer.ts';
import { CompiledRule } from '../../../../src/kube-apiserver/rbac/rule-match.ts';

const asked = (name: string): AccessRequest => ({
  ...({ type: 'resource', verb: 'get', group: '', resource: 'configmaps', namespace: 'a', name } as const),
  user: { name: 'bob', groups: [] },
});

/** World with `roles` roles of 1,000 names each; every reading of the clock is a second after the last. */
function world(roles: number) {
  let [seconds, turns] = [0, 0];
  const rules = Array.from({ length: 1_000 }, (_, i) => {
    const resourceNames = [`n${i}`];
    return new CompiledRule({ verbs: ['get'], apiGroups: [''], resources: ['configmaps'], resourceNames });
  });
  const grant: Grant = { rules, problem: undefined, source: () => 'a binding' };
  const policy = { grantsOf: () => Array(roles).fill(grant).values() } as unknown as Policy;
  const clock = {
    monotonic: () => 1_000 * seconds++,
    soon: (fn: () => void) => {
      turns++;
      queueMicrotask(fn);
    },
  } as unknown as Parameters<typeof rbacAuthorizer>[0]['clock'];
  return { decide: rbacAuthorizer({ policy, clock, turns: new Turns(clock) }), turns: () => turns };
}

test('a few rules are compared at once', () => {
  const { decide, turns } = world(4);
  assert.deepEqual(decide(asked('n999')), { allowed: true, reason: 'RBAC: allowed by a binding' });
  assert.deepEqual(decide(asked('x')), { allowed: false, reason: '' });
  assert.equal(turns(), 0);
});

test('a check of very many rules yields after a part of them', async () => {
  const { decide, turns } = world(100);
  assert.deepEqual(await decide(asked('x')), { allowed: false, reason: '' });
  assert.equal(turns(), 19);
});
