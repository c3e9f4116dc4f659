/** Users of requests, and the groups of the system. */
import {
  serviceAccountGroups,
  serviceAccountOf,
  serviceAccountUserName,
} from '../../apimachinery/account-user.ts';

/** The user of a request (authentication.k8s.io UserInfo). */
export interface UserInfo {
  readonly name: string;
  readonly uid?: string;
  readonly groups: readonly string[];
  readonly extra?: Readonly<Record<string, readonly string[]>>;
}

/** Members may do everything, regardless of the rules. */
export const mastersGroup = 'system:masters';
/** Group of the monitoring of a cluster. */
export const monitoringGroup = 'system:monitoring';
export const authenticatedGroup = 'system:authenticated';
export const unauthenticatedGroup = 'system:unauthenticated';
/**
 * A request is only made as this user by impersonation, or if the caller allows anonymous requests; every
 * other unauthenticated request is rejected.
 */
export const anonymousUser = 'system:anonymous';
export const nodesGroup = 'system:nodes';
/** The group of users with a bootstrap token. */
export const bootstrappersGroup = 'system:bootstrappers';
/** The group of nodes whose certificate has expired; they may request their next one. */
export const expiredNodesGroup = 'system:expired-nodes';
const nodeUserPrefix = 'system:node:';
const expiredNodePrefix = 'system:expired-node:';

export const nodeUserName = (node: string) => `${nodeUserPrefix}${node}`;
export const expiredNodeUserName = (node: string) => `${expiredNodePrefix}${node}`;
export const isBootstrapper = (user: UserInfo) => user.groups.includes(bootstrappersGroup);

/** Returns the name of the node whose kubelet this user is; undefined for every other user. */
export function nodeNameOf(user: UserInfo): string | undefined {
  if (!user.groups.includes(nodesGroup) || !user.name.startsWith(nodeUserPrefix)) return undefined;
  return user.name.slice(nodeUserPrefix.length) || undefined;
}

/** Returns the name of the node whose certificate has expired; undefined for every other user. */
export function expiredNodeNameOf({ name, groups }: UserInfo): string | undefined {
  if (!groups.includes(expiredNodesGroup) || !name.startsWith(expiredNodePrefix)) return undefined;
  return name.slice(expiredNodePrefix.length) || undefined;
}

/** Groups of users that are no part of the cluster, or not yet. */
const outsiders = [unauthenticatedGroup, bootstrappersGroup, expiredNodesGroup];

/**
 * Returns whether the user is a part of the cluster: API server, scheduler, controllers, nodes, and whatever
 * runs in kube-system. Administrators are not.
 */
export function isPartOfCluster({ name, groups }: UserInfo): boolean {
  const account = serviceAccountOf(name);
  if (account) return account.namespace === systemNamespace;
  if (outsiders.some((group) => groups.includes(group))) return false;
  return name.startsWith('system:');
}

const systemNamespace = 'kube-system';

/**
 * Returns the name under which limits count a user. The ServiceAccounts of a namespace count as one user,
 * because an editor of the namespace creates any number of them, and acts as each. The accounts of
 * kube-system, which administrators create, count separately.
 */
export function countedName(user: string): string {
  const account = serviceAccountOf(user);
  if (!account || account.namespace === systemNamespace) return user;
  return `system:serviceaccounts:${account.namespace}`;
}

export const serviceAccountUser = (namespace: string, name: string): UserInfo => ({
  name: serviceAccountUserName(namespace, name),
  groups: [...serviceAccountGroups(namespace), authenticatedGroup],
});

/**
 * Returns the user of a control plane component, such as `kube-scheduler`, which has the rights of its role.
 */
export const componentUser = (component: string): UserInfo => ({
  name: `system:${component}`,
  groups: [authenticatedGroup],
});

/** Returns a user that sets up a cluster before roles exist: it may do everything. */
export const systemUser = (component: string): UserInfo => ({
  name: `system:${component}`,
  groups: [mastersGroup, authenticatedGroup],
});
