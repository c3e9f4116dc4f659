/**
 * exec, attach, port-forward and logs on a WebSocket: this server checks the request, then joins the client's
 * connection to one to the kubelet, which implements the negotiated protocol. The data in between is not
 * parsed.
 */
import type { Pod } from '../../api/core/v1/pod/pod.ts';
import {
  newBadRequest,
  newInternalError,
  newStatusError,
  StatusError,
} from '../../apimachinery/status-error.ts';
import { auditHeaders } from '../../apiserver/request/audit-id.ts';
import type { RequestScope } from '../../apiserver/request/request-scope.ts';
import { readObject } from '../../apiserver/verbs/get.ts';
import { errorMessage } from '../../base/log.ts';
import type { NodeConnection } from '../node-connection.ts';
import { hostOf, refusalOf } from './pod-agent.ts';

/**
 * Opens the stream. `pathOf` returns the kubelet's path and query, or throws the error of an invalid request.
 */
export async function streamToPod(
  agents: NodeConnection | undefined,
  scope: RequestScope,
  pathOf: (pod: Pod, query: URLSearchParams) => string,
): Promise<Response> {
  const pod = (await readObject(scope)).object as Pod;
  const path = pathOf(pod, scope.query);
  const node = hostOf(pod);
  const { upgrade } = scope;
  if (!upgrade) throw newBadRequest('Upgrade request required');
  const connection = await askAgent(agents, scope, node, {
    method: scope.request.method,
    path,
    headers: { ...upgrade.headers, ...auditHeaders(scope.request, scope.server.random) },
  });
  if (connection instanceof Response) throw await refusalOf(connection);
  upgrade.switchTo(connection);
  return new Response(null);
}

type Ask = NonNullable<NodeConnection['upgrade']>;

async function askAgent(
  agents: NodeConnection | undefined,
  { signal, shutdown }: RequestScope,
  node: string,
  request: Parameters<Ask>[1],
): ReturnType<Ask> {
  const ask = agents?.upgrade;
  if (!ask) throw newStatusError('ServiceUnavailable', 'this server is not connected to the node agents');
  try {
    return await ask(node, request, shutdown ? AbortSignal.any([signal, shutdown]) : signal);
  } catch (error) {
    if (error instanceof StatusError) throw error;
    throw newInternalError(`cannot reach the node agent of ${node}: ${errorMessage(error)}`);
  }
}
