/**
 * `ctl create rolebinding` and `clusterrolebinding`, and the flags for subjects, which `ctl set subject` has
 * too.
 */
import type { JsonObject } from '../../apimachinery/equality.ts';
import { UsageError } from '../../base/usage-error.ts';
import { rbacGroup } from '../access/read-policy.ts';
import { type Flags, type FlagTable, under } from '../flags/flags.ts';
import { type Generator, newMetadata } from './generator.ts';

export const subjectFlags = under('Who gets the role', {
  user: { type: 'string', hint: 'NAME', about: 'user to bind to the role; may be repeated' },
  group: { type: 'string', hint: 'NAME', about: 'group to bind to the role; may be repeated' },
  serviceaccount: {
    type: 'string',
    hint: 'NS:NAME',
    about: 'service account to bind to the role; may be repeated',
  },
});

/**
 * Returns the subjects in the flags. `usual` is the default namespace of a service account; without it, a
 * service account without a namespace is rejected.
 */
export const subjectsOf = (flags: Flags, usual = ''): JsonObject[] => [
  ...flags.texts('user').map((name) => ({ kind: 'User', apiGroup: rbacGroup, name })),
  ...flags.texts('group').map((name) => ({ kind: 'Group', apiGroup: rbacGroup, name })),
  ...flags.texts('serviceaccount').map((text) => {
    const [namespace = '', name = '', ...more] = text.split(':');
    if (!(namespace || usual) || !name || more.length > 0)
      throw new UsageError('serviceaccount must be <namespace>:<name>');
    return { kind: 'ServiceAccount', name, namespace: namespace || usual };
  }),
];

const clusterRoleFlag = {
  clusterrole: { type: 'string', hint: 'NAME', about: 'ClusterRole to grant' },
} as const satisfies FlagTable;

const binding = (kind: string, name: string, role: readonly [string, string], flags: Flags): JsonObject => {
  const subjects = subjectsOf(flags);
  return {
    kind,
    apiVersion: `${rbacGroup}/v1`,
    metadata: newMetadata(name),
    ...(subjects.length > 0 && { subjects }),
    roleRef: { apiGroup: rbacGroup, kind: role[0], name: role[1] },
  };
};

const roleBindingGenerator: Generator = {
  about: 'create a RoleBinding, which grants a role in a namespace',
  usage: '(--role=NAME | --clusterrole=NAME) [--user=NAME]',
  examples: [
    'rolebinding readers --clusterrole=view --user=ann --group=staff # grant a role to a user and a group',
  ],
  resource: `rolebindings.${rbacGroup}`,
  flags: {
    role: { type: 'string', hint: 'NAME', about: 'Role to grant' },
    ...clusterRoleFlag,
    ...subjectFlags,
  },
  make({ name, flags }) {
    const [role, clusterRole] = [flags.text('role'), flags.text('clusterrole')];
    if (Boolean(role) === Boolean(clusterRole))
      throw new UsageError('exactly one of clusterrole or role must be specified');
    return binding('RoleBinding', name, role ? ['Role', role] : ['ClusterRole', clusterRole ?? ''], flags);
  },
};

const clusterRoleBindingGenerator: Generator = {
  about: 'create a ClusterRoleBinding, which grants a role in all namespaces',
  usage: '--clusterrole=NAME [--user=NAME]',
  examples: [
    'clusterrolebinding readers --clusterrole=view --serviceaccount=shop:robot # grant a role to a service account',
  ],
  resource: `clusterrolebindings.${rbacGroup}`,
  clusterWide: true,
  flags: { ...clusterRoleFlag, ...subjectFlags },
  make({ name, flags }) {
    const role = flags.text('clusterrole');
    if (!role) throw new UsageError('required flag(s) "clusterrole" not set');
    return binding('ClusterRoleBinding', name, ['ClusterRole', role], flags);
  },
};

export const bindingGenerators = {
  rolebinding: roleBindingGenerator,
  clusterrolebinding: clusterRoleBindingGenerator,
};
