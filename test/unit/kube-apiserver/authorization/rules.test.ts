/** List of the rules of a user, up to a maximum. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { rulesOf } from '../../../../src/kube-apiserver/authorization/rules.ts';
import type { Grant, Policy } from '../../../../src/kube-apiserver/rbac/policy.ts';
import { CompiledRule } from '../../../../src/kube-apiserver/rbac/rule-match.ts';

const grant: Grant = {
  rules: Array(1_000).fill(new CompiledRule({ verbs: ['get'], apiGroups: [''], resources: ['pods'] })),
  problem: undefined,
  source: () => 'a binding',
};
function listed(grants: number) {
  let given = 0;
  const policy = {
    *grantsOf() {
      for (; given < grants; given++) yield grant;
    },
  } as unknown as Policy;
  const user = { name: 'bob', groups: [] };
  const { resourceRules, incomplete, evaluationError } = rulesOf({ policy, hasOtherRules: false }, user, 'a');
  return { rules: resourceRules.length, incomplete, evaluationError, given };
}

test('all rules are listed if they fit', () =>
  assert.deepEqual(listed(10), {
    rules: 10_000,
    incomplete: false,
    evaluationError: undefined,
    given: 10,
  }));

test('only the first rules of too many are listed, as incomplete', () =>
  assert.deepEqual(listed(500), {
    rules: 10_000,
    incomplete: true,
    evaluationError: 'only the first 10000 rules are listed',
    given: 10,
  }));
