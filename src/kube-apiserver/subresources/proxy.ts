/** pods/NAME/proxy, services/NAME/proxy, nodes/NAME/proxy: HTTP to programs in the cluster. */
import { type Node, nodeResource } from '../../api/core/v1/node/node.ts';
import { type Pod, podResource } from '../../api/core/v1/pod/pod.ts';
import { type Service, serviceResource } from '../../api/core/v1/service/service.ts';
import type { EndpointSlice } from '../../api/discovery/v1/endpoint-slice.ts';
import type { KubeObject } from '../../apimachinery/meta.ts';
import { type ResourceRef, storageKey } from '../../apimachinery/resource-definition.ts';
import { newForbidden, newNotFound } from '../../apimachinery/status-error.ts';
import type { AccessRequest } from '../../apiserver/authorization/authorizer.ts';
import { waitForNow } from '../../apiserver/reads/freshness.ts';
import { auditHeaders } from '../../apiserver/request/audit-id.ts';
import type { Handler, RequestScope } from '../../apiserver/request/request-scope.ts';
import type { NodeConnection } from '../node-connection.ts';
import { dialNode, dialPod } from '../proxy/dial.ts';
import { forward } from '../proxy/forward.ts';
import {
  nodeLocation,
  type PodLocation,
  parseProxyName,
  podLocation,
  serviceLocation,
} from '../proxy/location.ts';
import { slicesByService } from '../slices-by-service.ts';

export const podProxy =
  (agents: NodeConnection | undefined): Handler =>
  async (scope) => {
    const asked = parseProxyName(scope.info.name, 'pod');
    await waitForNow(scope.server, scope);
    return toPod(agents, scope, podLocation(existing<Pod>(scope, podResource, asked.name), asked));
  };

export const serviceProxy =
  (agents: NodeConnection | undefined): Handler =>
  async (scope) => {
    const { server, info } = scope;
    const asked = parseProxyName(info.name, 'service');
    await waitForNow(server, scope);
    const service = existing<Service>(scope, serviceResource, asked.name);
    const slices = server.cache
      .index(slicesByService)
      .get(`${info.namespace}/${asked.name}`)
      .map(({ object }) => object as EndpointSlice);
    const podOf = (name: string) => cached<Pod>(scope, podResource, name);
    return toPod(agents, scope, serviceLocation(service, slices, podOf, asked, server.random.next()));
  };

export const nodeProxy =
  (agents: NodeConnection | undefined): Handler =>
  async (scope) => {
    const asked = parseProxyName(scope.info.name, 'node');
    if (scope.upgrade) await requireCreate(scope);
    await waitForNow(scope.server, scope);
    const location = nodeLocation(existing<Node>(scope, nodeResource, asked.name), asked);
    const hosts = location === 'agent' ? [] : [`${location.address}:${location.port}`];
    const headers = location === 'agent' ? auditHeaders(scope.request, scope.server.random) : {};
    return forward(scope, {
      dial: dialNode(agents, scope.server.clock, asked.name, location),
      hosts,
      headers,
    });
  };

/**
 * Throws Forbidden. An upgraded connection runs programs in the pods of the node, and a WebSocket begins with
 * GET: users who may only read must not open one. Upstream only requires `get`.
 */
async function requireCreate({ server, info, user }: RequestScope): Promise<void> {
  const { name, rest } = info;
  const [verb, resource] = ['create', 'nodes/proxy'];
  const access: AccessRequest = {
    type: 'resource',
    user,
    verb,
    group: '',
    resource,
    namespace: '',
    name,
    rest,
  };
  if ((await server.authorize(access)).allowed) return;
  const why = 'exec, attach and port-forward through nodes/proxy need the verb create on nodes/proxy';
  throw newForbidden({ group: '', plural: 'nodes' }, name, why);
}

function toPod(
  agents: NodeConnection | undefined,
  scope: RequestScope,
  location: PodLocation,
): Promise<Response> {
  const { address, port } = location;
  const { request, server } = scope;
  return forward(scope, {
    dial: dialPod(agents, server.clock, location, auditHeaders(request, server.random)),
    hosts: [address, `${address}:${port}`],
  });
}

function cached<T extends KubeObject>(
  { server, info }: RequestScope,
  ref: ResourceRef<T>,
  name: string,
): T | undefined {
  return server.cache.get(storageKey(ref, info.namespace, name))?.object as T | undefined;
}

function existing<T extends KubeObject>(scope: RequestScope, ref: ResourceRef<T>, name: string): T {
  const found = cached(scope, ref, name);
  if (!found) throw newNotFound(ref, name);
  return found;
}
