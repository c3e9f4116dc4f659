/** Names and groups under which ServiceAccounts are users of the API. Pure. */

const prefix = 'system:serviceaccount:';

export interface ServiceAccountName {
  readonly namespace: string;
  readonly name: string;
}

/** Returns the user name of a ServiceAccount, such as `system:serviceaccount:default:builder`. */
export const serviceAccountUserName = (namespace: string, name: string) => `${prefix}${namespace}:${name}`;

/** Returns the ServiceAccount that a user name stands for; undefined for a name of another form. */
export function serviceAccountOf(user: string): ServiceAccountName | undefined {
  if (!user.startsWith(prefix)) return undefined;
  const [namespace, name, ...more] = user.slice(prefix.length).split(':');
  return namespace && name && more.length === 0 ? { namespace, name } : undefined;
}

/** Returns the groups of every ServiceAccount of a namespace, besides `system:authenticated`. */
export const serviceAccountGroups = (namespace: string): readonly string[] => [
  'system:serviceaccounts',
  `system:serviceaccounts:${namespace}`,
];
