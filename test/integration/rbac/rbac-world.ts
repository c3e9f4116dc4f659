/** An API server with roles, and users who have some of the roles. */
import assert from 'node:assert/strict';
import type { Status } from '../../../src/apimachinery/status-error.ts';
import type { UserInfo } from '../../../src/apiserver/request/user.ts';
import {
  type Answer,
  startTestServer,
  type TestServer,
  type TestServerOptions,
} from '../../fixtures/api-server.ts';

export const known = 'system:authenticated';
export const named = (name: string, ...groups: string[]): UserInfo => ({ name, groups: [...groups, known] });

const rbac = '/apis/rbac.authorization.k8s.io/v1';
export const clusterRoles = `${rbac}/clusterroles`;
export const clusterRoleBindings = `${rbac}/clusterrolebindings`;
export const rolesIn = (namespace: string) => `${rbac}/namespaces/${namespace}/roles`;
export const roleBindingsIn = (namespace: string) => `${rbac}/namespaces/${namespace}/rolebindings`;

export interface Rule {
  readonly verbs: readonly string[];
  readonly apiGroups?: readonly string[];
  readonly resources?: readonly string[];
  readonly resourceNames?: readonly string[];
  readonly nonResourceURLs?: readonly string[];
}

/**
 * Returns a rule from text such as `get,list pods,secrets a,b`: verbs, resources of the group `group`, and
 * names.
 */
export function rule(text: string, group = ''): Rule {
  const [verbs = '', resources = '', names] = text.split(' ');
  return {
    verbs: verbs.split(','),
    apiGroups: [group],
    resources: resources.split(','),
    ...(names && { resourceNames: names.split(',') }),
  };
}

export type Subject = { readonly kind: string; readonly name: string; readonly namespace?: string };
export const user = (name: string): Subject => ({ kind: 'User', name });

export interface RbacWorld {
  readonly server: TestServer;
  /**
   * Creates the object as an administrator and waits until the server applies it; fails if it is rejected.
   */
  make(path: string, body: object): Promise<void>;
  /**
   * Creates a role in a namespace, or a ClusterRole if the namespace is '', and a binding of the same name.
   */
  grant(namespace: string, name: string, rules: readonly Rule[], ...subjects: Subject[]): Promise<void>;
  stop(): Promise<void>;
}

export const binding = (role: string, name: string, ...subjects: Subject[]) => ({
  metadata: { name },
  roleRef: { kind: role.split('/')[0], name: role.split('/')[1], apiGroup: 'rbac.authorization.k8s.io' },
  subjects,
});

export async function startRbacWorld(options: TestServerOptions = {}): Promise<RbacWorld> {
  const server = await startTestServer(options);
  const make = async (path: string, body: object) => {
    const made = await server.call('POST', path, body);
    assert.equal(made.status, 201, made.text);
    await server.clock.until(server.cache.waitUntil(await server.store.currentRevision()));
  };
  return {
    server,
    make,
    async grant(namespace, name, rules, ...subjects) {
      await make(namespace ? rolesIn(namespace) : clusterRoles, { metadata: { name }, rules });
      const bindings = namespace ? roleBindingsIn(namespace) : clusterRoleBindings;
      await make(bindings, binding(`${namespace ? 'Role' : 'ClusterRole'}/${name}`, name, ...subjects));
    },
    stop: () => server.stop(),
  };
}

/** Returns the status code of the answer; the message if it is forbidden. */
export function outcomeOf(answer: Answer): number | string {
  return answer.status === 403 ? (answer.json<Status>().message ?? '') : answer.status;
}
