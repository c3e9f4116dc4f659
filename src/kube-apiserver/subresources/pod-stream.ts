/**
 * exec, attach, port-forward and logs on a WebSocket: the checks are made here, then the client's connection is joined to one to the node
 * agent, which speaks the protocol they agree on. Nothing of it is read on the way.
 */
import type { Pod } from '../../api/core/v1/pod.ts';
import {
  newBadRequest,
  newInternalError,
  newStatusError,
  StatusError,
} from '../../apimachinery/status-error.ts';
import { auditHeaders } from '../../apiserver/audit-id.ts';
import type { RequestScope } from '../../apiserver/request-scope.ts';
import { readObject } from '../../apiserver/verbs/get.ts';
import { errorMessage } from '../../base/log.ts';
import type { NodeConnection } from '../node-connection.ts';
import { hostOf, refusalOf } from './pod-agent.ts';

/** `pathOf` gives the agent's path and query, or throws what is wrong with the request. */
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
