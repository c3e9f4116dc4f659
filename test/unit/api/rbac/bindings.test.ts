import assert from 'node:assert/strict';
import { test } from 'node:test';
import { clusterRoleBindingResource } from '../../../../src/api/rbac/v1/cluster-role-binding.ts';
import { roleBindingResource } from '../../../../src/api/rbac/v1/role-binding.ts';
import { cells, created, testCreate, testUpdate } from '../../../fixtures/kinds.ts';

const apiGroup = 'rbac.authorization.k8s.io';
const apiVersion = `${apiGroup}/v1`;
const account = { kind: 'ServiceAccount', namespace: 'default', name: 'builder' };
const binding = {
  apiVersion,
  kind: 'RoleBinding',
  metadata: { name: 'readers', namespace: 'default' },
  roleRef: { kind: 'ClusterRole', name: 'system:reader' },
  subjects: [
    { kind: 'User', name: 'ann' },
    { kind: 'Group', name: 'system:authenticated' },
    { kind: 'User', name: 'bob' },
    account,
  ],
};
const clusterBinding = { ...binding, kind: 'ClusterRoleBinding', metadata: { name: 'readers' } };
const roleRef = (fields: object | null) => ({ roleRef: fields });
const subject = (fields: object) => ({ subjects: [fields] });
const subjectKinds = 'supported values: "ServiceAccount", "User", "Group"';

/** Cases for both kinds. */
const common = [
  ['a name with colons', { metadata: { name: 'system:readers' } }],
  ['nobody', { subjects: null }],
  [
    'a role of an unknown group',
    roleRef({ apiGroup: 'apps' }),
    `roleRef.apiGroup: Unsupported value: "apps": supported values: "${apiGroup}"`,
  ],
  ['a role without a name', roleRef({ name: null }), 'roleRef.name: Required value'],
  [
    'an invalid role name',
    roleRef({ name: 'a/b' }),
    `roleRef.name: Invalid value: "a/b": may not contain '/'`,
  ],
  ['no name', subject({ kind: 'User' }), 'subjects[0].name: Required value'],
  ['no kind', subject({ name: 'ann' }), `subjects[0].kind: Unsupported value: "": ${subjectKinds}`],
  [
    'an empty subject',
    subject({}),
    'subjects[0].name: Required value',
    `subjects[0].kind: Unsupported value: "": ${subjectKinds}`,
  ],
  [
    'an invalid kind',
    { subjects: [account, { kind: 'Node', name: 'n' }] },
    `subjects[1].kind: Unsupported value: "Node": ${subjectKinds}`,
  ],
  [
    'a user with an unknown group',
    subject({ kind: 'User', name: 'ann', apiGroup: 'x' }),
    `subjects[0].apiGroup: Unsupported value: "x": supported values: "${apiGroup}"`,
  ],
  [
    'a group with an unknown API group',
    subject({ kind: 'Group', name: 'staff', apiGroup: 'x' }),
    `subjects[0].apiGroup: Unsupported value: "x": supported values: "${apiGroup}"`,
  ],
  [
    'an account with an API group',
    subject({ ...account, apiGroup }),
    `subjects[0].apiGroup: Unsupported value: "${apiGroup}": supported values: ""`,
  ],
  [
    'an invalid account name',
    subject({ ...account, name: 'A' }),
    'subjects[0].name: Invalid value: "A": a lowercase RFC 1123 subdomain',
  ],
  ['an account without a name', subject({ ...account, name: '' }), 'subjects[0].name: Required value'],
  ['a user by any name', subject({ kind: 'User', name: 'Ann <ann@example.com>' })],
] as const;

testCreate(roleBindingResource, binding, [
  ...common,
  ['a Role', roleRef({ kind: 'Role' })],
  ['an account of the same namespace', subject({ ...account, namespace: null })],
  [
    'no role',
    roleRef(null),
    'roleRef.kind: Unsupported value: "": supported values: "Role", "ClusterRole"',
    'roleRef.name: Required value',
  ],
]);

testCreate(clusterRoleBindingResource, clusterBinding, [
  ...common,
  [
    'a Role',
    roleRef({ kind: 'Role' }),
    'roleRef.kind: Unsupported value: "Role": supported values: "ClusterRole"',
  ],
  [
    'no role',
    roleRef(null),
    'roleRef.kind: Unsupported value: "": supported values: "ClusterRole"',
    'roleRef.name: Required value',
  ],
  [
    'an account without a namespace',
    subject({ ...account, namespace: '' }),
    'subjects[0].namespace: Required value',
  ],
]);

const moved =
  'roleRef: Invalid value: {"kind":"ClusterRole","name":"other","apiGroup":"rbac.authorization.k8s.io"}: cannot change roleRef';
testUpdate(roleBindingResource, binding, [
  ['other subjects', { subjects: [account] }],
  ['another role', roleRef({ name: 'other' }), moved],
]);
testUpdate(clusterRoleBindingResource, clusterBinding, [['another role', roleRef({ name: 'other' }), moved]]);

test('omitted groups of subjects get their default', () => {
  for (const made of [
    created(roleBindingResource, binding),
    created(clusterRoleBindingResource, clusterBinding),
  ]) {
    assert.equal(made.roleRef.apiGroup, apiGroup);
    assert.deepEqual(
      made.subjects?.map((one) => one.apiGroup),
      [apiGroup, apiGroup, apiGroup, undefined],
    );
  }
});

test('a binding has the columns of kubectl', () => {
  const shown = {
    Name: 'readers',
    Role: 'ClusterRole/system:reader',
    Age: '<unknown>',
    Users: 'ann, bob',
    Groups: 'system:authenticated',
    ServiceAccounts: 'default/builder',
  };
  assert.deepEqual(cells(roleBindingResource, created(roleBindingResource, binding), 0), shown);
  const made = created(clusterRoleBindingResource, {
    ...clusterBinding,
    subjects: [{ kind: 'ServiceAccount', name: 'a', namespace: 'b' }],
  });
  assert.deepEqual(cells(clusterRoleBindingResource, made, 0), {
    ...shown,
    Users: '',
    Groups: '',
    ServiceAccounts: 'b/a',
  });
});
