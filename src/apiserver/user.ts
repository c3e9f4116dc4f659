/** Who makes a request (authentication.k8s.io UserInfo). */
export interface UserInfo {
  readonly name: string;
  readonly uid?: string;
  readonly groups: readonly string[];
  readonly extra?: Readonly<Record<string, readonly string[]>>;
}

/** Members may do everything, whatever the rules say. */
export const mastersGroup = 'system:masters';
/** Who watches over a cluster. */
export const monitoringGroup = 'system:monitoring';
export const authenticatedGroup = 'system:authenticated';
export const unauthenticatedGroup = 'system:unauthenticated';
/** Nobody makes requests as this user but by impersonation: whoever is not known is refused. */
export const anonymousUser = 'system:anonymous';
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

/** Its API server, scheduler, controllers and nodes, and what runs in kube-system; not the administrators. */
export function isPartOfCluster({ name, groups }: UserInfo): boolean {
  const account = serviceAccountOf(name);
  if (account) return account.namespace === systemNamespace;
  if (groups.includes(unauthenticatedGroup) || groups.includes(bootstrappersGroup)) return false;
  return name.startsWith('system:');
}

const systemNamespace = 'kube-system';

const serviceAccountPrefix = 'system:serviceaccount:';

export interface ServiceAccountName {
  readonly namespace: string;
  readonly name: string;
}

export const serviceAccountUserName = (namespace: string, name: string) =>
  `${serviceAccountPrefix}${namespace}:${name}`;

/** The ServiceAccount for which a user's name stands; undefined for a name of another form. */
export function serviceAccountOf(user: string): ServiceAccountName | undefined {
  if (!user.startsWith(serviceAccountPrefix)) return undefined;
  const [namespace, name, ...more] = user.slice(serviceAccountPrefix.length).split(':');
  return namespace && name && more.length === 0 ? { namespace, name } : undefined;
}

/** What every ServiceAccount of a namespace is in. */
export const serviceAccountGroups = (namespace: string): readonly string[] => [
  'system:serviceaccounts',
  `system:serviceaccounts:${namespace}`,
];

export const serviceAccountUser = (namespace: string, name: string): UserInfo => ({
  name: serviceAccountUserName(namespace, name),
  groups: [...serviceAccountGroups(namespace), authenticatedGroup],
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
