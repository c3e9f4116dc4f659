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

/** Members may do everything, whatever the rules allow. */
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
const nodeUserPrefix = 'system:node:';

export const nodeUserName = (node: string) => `${nodeUserPrefix}${node}`;
export const isBootstrapper = (user: UserInfo) => user.groups.includes(bootstrappersGroup);

/** Returns the name of the node whose kubelet this user is; undefined for every other user. */
export function nodeNameOf(user: UserInfo): string | undefined {
  if (!user.groups.includes(nodesGroup) || !user.name.startsWith(nodeUserPrefix)) return undefined;
  return user.name.slice(nodeUserPrefix.length) || undefined;
}

/**
 * Returns whether the user is a part of the cluster: API server, scheduler, controllers, nodes, and whatever
 * runs in kube-system. Administrators are not.
 */
export function isPartOfCluster({ name, groups }: UserInfo): boolean {
  const account = serviceAccountOf(name);
  if (account) return account.namespace === systemNamespace;
  if (groups.includes(unauthenticatedGroup) || groups.includes(bootstrappersGroup)) return false;
  return name.startsWith('system:');
}

const systemNamespace = 'kube-system';

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
