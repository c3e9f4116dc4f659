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

/** A component of the control plane that calls the server in the same process, such as `kube-scheduler`. */
export function systemUser(component: string): UserInfo {
  return { name: `system:${component}`, groups: [mastersGroup, authenticatedGroup] };
}
