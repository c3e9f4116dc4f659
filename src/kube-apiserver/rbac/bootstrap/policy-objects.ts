/** The roles and bindings of every cluster, as objects. Pure. */
import { clusterRoleResource } from '../../../api/rbac/v1/cluster-role.ts';
import { clusterRoleBindingResource } from '../../../api/rbac/v1/cluster-role-binding.ts';
import { roleResource } from '../../../api/rbac/v1/role.ts';
import { roleBindingResource } from '../../../api/rbac/v1/role-binding.ts';
import { rbacGroup } from '../../../api/rbac/v1/roles.ts';
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
import { controllerRoles } from './controller-roles.ts';
import type { FeatureRoles } from './feature-roles.ts';
import { namespaceBindings, namespaceRoles } from './namespace-roles.ts';
import { ownControllerRoles, ownRowsOfRoles, ownRowsOfView } from './own-roles.ts';
import { type RuleRow, rulesFrom } from './rows.ts';

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
};

const ofController = (name: string) => `system:controller:${name}`;
const own = (name: string) => `minik8s:${name}`;

const entriesOf = <T>(table: Readonly<Record<string, T>>) => Object.entries(table);

const bootstrapClusterRoles = (features: readonly FeatureRoles[]): readonly PolicyObject<ClusterRole>[] => [
  ...entriesOf(clusterRoles).map(([name, rows]) =>
    clusterRole(name, [...rows, ...(ownRowsOfRoles[name] ?? [])], rolesToAggregate[name]),
  ),
  ...entriesOf(aggregatedRoles).map(aggregatedRole),
  ...entriesOf(controllerRoles).map(([name, rows]) => clusterRole(ofController(name), rows)),
  ...features.flatMap(({ clusterRoles: named = {} }) =>
    entriesOf(named).map(([name, rows]) => clusterRole(name, rows)),
  ),
  ...[ownControllerRoles, ...features.map(({ controllers }) => controllers)].flatMap((table) =>
    entriesOf(table).map(([name, rows]) => clusterRole(own(name), rows)),
  ),
  clusterRole(own('aggregate-to-view'), [...features.flatMap(({ view }) => view), ...ownRowsOfView], 'view'),
  clusterRole(
    own('aggregate-to-edit'),
    features.flatMap(({ edit }) => edit),
    'edit',
  ),
];

const bootstrapClusterRoleBindings = (
  features: readonly FeatureRoles[],
): readonly PolicyObject<ClusterRoleBinding>[] => [
  ...entriesOf(clusterRoleHolders).map(([role, subjects]) => clusterBinding(role, subjects)),
  ...Object.keys(controllerRoles).map((name) => clusterBinding(ofController(name), [account(name)])),
  ...[ownControllerRoles, ...features.map(({ controllers }) => controllers)]
    .flatMap((table) => Object.keys(table))
    .map((name) => clusterBinding(own(name), [account(name)])),
];

export const bootstrapRoles: readonly PolicyObject<Role>[] = entriesOf(namespaceRoles).map(([key, rows]) => {
  const [namespace = '', name = ''] = key.split('/');
  const metadata = { name, namespace, labels: bootstrapping, annotations };
  return { ref: roleResource, draft: { apiVersion, kind: 'Role', metadata, rules: rulesFrom(rows) } };
});

export const bootstrapRoleBindings: readonly PolicyObject<RoleBinding>[] = namespaceBindings.map(
  ({ namespace, name, role, users = [], accounts = [] }) => ({
    ref: roleBindingResource,
    draft: {
      apiVersion,
      kind: 'RoleBinding',
      metadata: { name, namespace, labels: bootstrapping, annotations },
      roleRef: { apiGroup: rbacGroup, kind: 'Role', name: role },
      subjects: [...users.map(user), ...accounts.map(account)],
    },
  }),
);

/** All roles come before the bindings, so that no binding is rejected for a missing role. */
export const bootstrapPolicy = (features: readonly FeatureRoles[]): readonly (readonly PolicyObject[])[] => [
  [...bootstrapClusterRoles(features), ...bootstrapRoles] as unknown as readonly PolicyObject[],
  [...bootstrapClusterRoleBindings(features), ...bootstrapRoleBindings] as unknown as readonly PolicyObject[],
];
