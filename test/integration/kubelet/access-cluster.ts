/**
 * An API server that authenticates and authorizes an agent's clients: the token is the user's name, and roles
 * define the access.
 */
import { systemClock } from '../../../src/base/clock.ts';
import type { Client } from '../../../src/client/client.ts';
import { inProcessTransport } from '../../../src/client/in-process-transport.ts';
import { createClient } from '../../../src/client/rest-client.ts';
import { startTestServer } from '../../fixtures/api-server.ts';

export interface AccessCluster {
  /** Client with the node's identity. */
  readonly client: Client;
  /** Returns the number of requests that the API server received. */
  asked(): number;
  goAway(): void;
  comeBack(): void;
  stop(): Promise<void>;
}

/** Subresources of Nodes that each user may get. */
const roles: Readonly<Record<string, readonly string[]>> = {
  metrics: ['nodes/metrics'],
  often: ['nodes/metrics'],
  late: ['nodes/metrics'],
  pods: ['nodes/pods'],
  proxy: ['nodes/proxy'],
};

export async function accessCluster(): Promise<AccessCluster> {
  const server = await startTestServer({
    clock: systemClock,
    authenticate: ({ authorization }) => {
      const name = /^Bearer (.*)$/.exec(authorization ?? '')?.[1] ?? '';
      return Object.hasOwn(roles, name) ? { name, groups: ['system:authenticated'] } : undefined;
    },
  });
  const rbac = '/apis/rbac.authorization.k8s.io/v1';
  for (const [name, resources] of Object.entries(roles)) {
    const kinds = { apiVersion: 'rbac.authorization.k8s.io/v1', metadata: { name } };
    const rules = [{ apiGroups: [''], resources, verbs: ['get'] }];
    await server.call('POST', `${rbac}/clusterroles`, { ...kinds, kind: 'ClusterRole', rules });
    await server.call('POST', `${rbac}/clusterrolebindings`, {
      ...kinds,
      kind: 'ClusterRoleBinding',
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name },
      subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name }],
    });
  }
  await server.call('POST', '/api/v1/nodes', {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name: 'node-1' },
  });
  const handler = server.handlerFor({
    name: 'system:node:node-1',
    groups: ['system:nodes', 'system:authenticated'],
  });
  let asked = 0;
  let away = false;
  const client = createClient(
    inProcessTransport((request) => {
      asked++;
      return away ? Promise.reject(new Error('connection refused')) : handler(request);
    }),
  );
  return {
    client,
    asked: () => asked,
    goAway: () => {
      away = true;
    },
    comeBack: () => {
      away = false;
    },
    stop: () => server.stop(),
  };
}
