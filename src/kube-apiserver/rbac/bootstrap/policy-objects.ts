/** The roles and bindings of every cluster, as objects. Pure. */
import { clusterRoleResource } from '../../../api/rbac/v1/cluster-role.ts';
import { clusterRoleBindingResource } from '../../../api/rbac/v1/cluster-role-binding.ts';
import { roleResource } from '../../../api/rbac/v1/role.ts';
import { roleBindingResource } from '../../../api/rbac/v1/role-binding.ts';
import { rbacGroup } from '../../../api/rbac/v1/roles.ts';
import {
  type AccountRights,
  type ControllerAccount,
  distinctRows,
  type RuleRow,
  rulesFrom,
} from '../../../api/rbac/v1/rule-rows.ts';
import type {
  ClusterRole,
  ClusterRoleBinding,
  Role,
  RoleBinding,
  Subject,
} from '../../../api/rbac/v1/types.gen.ts';
import type { Draft } from '../../../apimachinery/meta.ts';
import type { ResourceRef } from '../../../apimachinery/resource-definition.ts';
import { authenticatedGroup, mastersGroup } from '../../../apiserver/request/user.ts';
import { aggregatedRoles, clusterRoles, rolesToAggregate } from './cluster-roles.ts';
import { absentControllers } from './controller-roles.ts';
import type { FeatureRoles } from './feature-roles.ts';
import { bindingOfController, namespaceBindings, namespaceRoles } from './namespace-roles.ts';
import { ownRowsOfRoles, ownRowsOfView } from './own-roles.ts';

type Metadata = { readonly name: string; readonly namespace?: string };
export type PolicyKind = ClusterRole | ClusterRoleBinding | Role | RoleBinding;

export interface PolicyObject<T extends PolicyKind = PolicyKind> {
  readonly ref: ResourceRef<T>;
  readonly draft: Draft<T> & { readonly metadata: Metadata };
}

const apiVersion = `${rbacGroup}/v1`;
/** An administrator sets this annotation to `false` to keep an object as it is. */
export const autoUpdate = 'rbac.authorization.kubernetes.io/autoupdate';
const annotations = { [autoUpdate]: 'true' };
const bootstrapping = { 'kubernetes.io/bootstrapping': 'rbac-defaults' };
const aggregateTo = (role: string | undefined) =>
  role === undefined ? {} : { [`${rbacGroup}/aggregate-to-${role}`]: 'true' };

function clusterRole(
  name: string,
  rows: readonly RuleRow[],
  aggregatedTo?: string,
): PolicyObject<ClusterRole> {
  const metadata = { name, labels: { ...bootstrapping, ...aggregateTo(aggregatedTo) }, annotations };
  return {
    ref: clusterRoleResource,
    draft: { apiVersion, kind: 'ClusterRole', metadata, rules: rulesFrom(rows) },
  };
}

function aggregatedRole([name, addsTo]: [string, string | undefined]): PolicyObject<ClusterRole> {
  const metadata = { name, labels: { ...bootstrapping, ...aggregateTo(addsTo) }, annotations };
  const aggregationRule = { clusterRoleSelectors: [{ matchLabels: aggregateTo(name) }] };
  return { ref: clusterRoleResource, draft: { apiVersion, kind: 'ClusterRole', metadata, aggregationRule } };
}

const user = (name: string): Subject => ({ kind: 'User', apiGroup: rbacGroup, name });
const group = (name: string): Subject => ({ kind: 'Group', apiGroup: rbacGroup, name });
/** Returns an account in kube-system as a subject. */
const account = (name: string): Subject => ({ kind: 'ServiceAccount', name, namespace: 'kube-system' });

function clusterBinding(role: string, subjects: Subject[]): PolicyObject<ClusterRoleBinding> {
  const roleRef = { apiGroup: rbacGroup, kind: 'ClusterRole', name: role };
  const metadata = { name: role, labels: bootstrapping, annotations };
  return {
    ref: clusterRoleBindingResource,
    draft: { apiVersion, kind: 'ClusterRoleBinding', metadata, roleRef, subjects },
  };
}

/** Subjects of the ClusterRoles in cluster-roles.ts that are bound from the beginning. */
const clusterRoleHolders: Readonly<Record<string, Subject[]>> = {
  'cluster-admin': [group(mastersGroup)],
  'system:monitoring': [group('system:monitoring')],
  'system:discovery': [group(authenticatedGroup)],
  'system:basic-user': [group(authenticatedGroup)],
  'system:public-info-viewer': [group(authenticatedGroup), group('system:unauthenticated')],
  'system:node-proxier': [user('system:kube-proxy')],
  'system:kube-controller-manager': [user('system:kube-controller-manager')],
  'system:kube-dns': [account('kube-dns')],
  'system:kube-scheduler': [user('system:kube-scheduler')],
  'system:volume-scheduler': [user('system:kube-scheduler')],
  // Nodes are authorized by the pods on them (node-authorizer.ts).
  'system:node': [],
  'system:service-account-issuer-discovery': [group('system:serviceaccounts')],
  'system:cluster-trust-bundle-discovery': [group('system:serviceaccounts')],
};

const ofController = (name: string) => `system:controller:${name}`;
const own = (name: string) => `minik8s:${name}`;

const entriesOf = <T>(table: Readonly<Record<string, T>>) => Object.entries(table);

/** Sources of the policy besides the roles that every cluster of Kubernetes has. */
export interface PolicySources {
  /** Rights of the controllers; an account that is named more than once gets the rights of all. */
  readonly controllers: readonly ControllerAccount[];
  readonly features: readonly FeatureRoles[];
}

/** Rows by account; accounts without rows are left out. */
function rowsByAccount(
  controllers: readonly ControllerAccount[],
  part: keyof AccountRights,
): readonly (readonly [account: string, rows: readonly RuleRow[]])[] {
  const accounts = Map.groupBy(
    controllers.filter(({ rights }) => rights[part]),
    ({ account: name }) => name,
  );
  return [...accounts].map(([name, of]) => [
    name,
    distinctRows(of.flatMap(({ rights }) => rights[part] ?? [])),
  ]);
}

const bootstrapClusterRoles = ({
  controllers,
  features,
}: PolicySources): readonly PolicyObject<ClusterRole>[] => [
  ...entriesOf(clusterRoles).map(([name, rows]) =>
    clusterRole(name, [...rows, ...(ownRowsOfRoles[name] ?? [])], rolesToAggregate[name]),
  ),
  ...entriesOf(aggregatedRoles).map(aggregatedRole),
  ...rowsByAccount(controllers, 'kubernetes').map(([name, rows]) => clusterRole(ofController(name), rows)),
  ...features.flatMap(({ clusterRoles: named = {} }) =>
    entriesOf(named).map(([name, rows]) => clusterRole(name, rows)),
  ),
  ...rowsByAccount(controllers, 'own').map(([name, rows]) => clusterRole(own(name), rows)),
  clusterRole(own('aggregate-to-view'), [...features.flatMap(({ view }) => view), ...ownRowsOfView], 'view'),
  clusterRole(
    own('aggregate-to-edit'),
    features.flatMap(({ edit }) => edit),
    'edit',
  ),
];

const bootstrapClusterRoleBindings = (
  controllers: readonly ControllerAccount[],
): readonly PolicyObject<ClusterRoleBinding>[] => [
  ...entriesOf(clusterRoleHolders).map(([role, subjects]) => clusterBinding(role, subjects)),
  ...rowsByAccount(controllers, 'kubernetes').map(([name]) =>
    clusterBinding(ofController(name), [account(name)]),
  ),
  ...rowsByAccount(controllers, 'own').map(([name]) => clusterBinding(own(name), [account(name)])),
];

const bootstrapRoles = (controllers: readonly ControllerAccount[]): readonly PolicyObject<Role>[] => {
  const ofAccounts = rowsByAccount(controllers, 'kubeSystem').map(
    ([name, rows]) => [`kube-system/${ofController(name)}`, rows] as const,
  );
  return [...entriesOf(namespaceRoles), ...ofAccounts].map(([key, rows]) => {
    const [namespace = '', name = ''] = key.split('/');
    const metadata = { name, namespace, labels: bootstrapping, annotations };
    return { ref: roleResource, draft: { apiVersion, kind: 'Role', metadata, rules: rulesFrom(rows) } };
  });
};

const bootstrapRoleBindings = (
  controllers: readonly ControllerAccount[],
): readonly PolicyObject<RoleBinding>[] =>
  [
    ...namespaceBindings,
    ...rowsByAccount(controllers, 'kubeSystem').map(([name]) => bindingOfController('kube-system', name)),
  ].map(({ namespace, name, role, users = [], accounts = [] }) => ({
    ref: roleBindingResource,
    draft: {
      apiVersion,
      kind: 'RoleBinding',
      metadata: { name, namespace, labels: bootstrapping, annotations },
      roleRef: { apiGroup: rbacGroup, kind: 'Role', name: role },
      subjects: [...users.map(user), ...accounts.map(account)],
    },
  }));

/** All roles come before the bindings, so that no binding is rejected for a missing role. */
export function bootstrapPolicy(sources: PolicySources): readonly (readonly PolicyObject[])[] {
  const absent = entriesOf(absentControllers).map(([name, rights]) => ({ account: name, rights }));
  const controllers = [...absent, ...sources.controllers];
  return [
    [
      ...bootstrapClusterRoles({ ...sources, controllers }),
      ...bootstrapRoles(controllers),
    ] as unknown as readonly PolicyObject[],
    [
      ...bootstrapClusterRoleBindings(controllers),
      ...bootstrapRoleBindings(controllers),
    ] as unknown as readonly PolicyObject[],
  ];
}
