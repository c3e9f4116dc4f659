/** Who makes a request (authentication.k8s.io UserInfo). */
export interface UserInfo {
  readonly name: string;
  readonly uid?: string;
  readonly groups: readonly string[];
  readonly extra?: Readonly<Record<string, readonly string[]>>;
}

/** Members may do everything, whatever the rules say. */
export const mastersGroup = 'system:masters';
export const authenticatedGroup = 'system:authenticated';
export const nodesGroup = 'system:nodes';
/** The group of users with a bootstrap token. */
export const bootstrappersGroup = 'system:bootstrappers';
const nodeUserPrefix = 'system:node:';

export const nodeUserName = (node: string) => `${nodeUserPrefix}${node}`;
export const isBootstrapper = (user: UserInfo) => user.groups.includes(bootstrappersGroup);

/** The node a node agent speaks for; undefined for every other user. */
export function nodeNameOf(user: UserInfo): string | undefined {
  if (!user.groups.includes(nodesGroup) || !user.name.startsWith(nodeUserPrefix)) return undefined;
  return user.name.slice(nodeUserPrefix.length) || undefined;
}

export const serviceAccountUserName = (namespace: string, name: string) =>
  `system:serviceaccount:${namespace}:${name}`;

/** A ServiceAccount as a user, with the groups that it has by being one. */
export const serviceAccountUser = (namespace: string, name: string): UserInfo => ({
  name: serviceAccountUserName(namespace, name),
  groups: ['system:serviceaccounts', `system:serviceaccounts:${namespace}`, authenticatedGroup],
});

/** A component of the control plane, such as `kube-scheduler`: it may do what its role says. */
export const componentUser = (component: string): UserInfo => ({
  name: `system:${component}`,
  groups: [authenticatedGroup],
});

/** What makes a cluster before there are roles: it may do everything. */
export const systemUser = (component: string): UserInfo => ({
  name: `system:${component}`,
  groups: [mastersGroup, authenticatedGroup],
});
