/** GET pods/NAME/log: streams the kubelet's answer; on a WebSocket if the client asks for one. */
import type { Pod } from '../../api/core/v1/pod/pod.ts';
import { newInternalError, newStatusError, StatusError } from '../../apimachinery/status-error.ts';
import { auditHeaders } from '../../apiserver/request/audit-id.ts';
import type { Handler, RequestScope } from '../../apiserver/request/request-scope.ts';
import { respond } from '../../apiserver/respond.ts';
import { readObject } from '../../apiserver/verbs/get.ts';
import { errorMessage } from '../../base/log.ts';
import type { NodeConnection } from '../node-connection.ts';
import { checkLogOptions } from './log-options.ts';
import { agentPath, chooseContainer, hostOf, refusalOf } from './pod-agent.ts';
import { streamToPod } from './pod-stream.ts';

/** Query parameters that are forwarded to the kubelet. `container` is part of the kubelet's path instead. */
const passedOn = [
  'follow',
  'previous',
  'sinceSeconds',
  'sinceTime',
  'timestamps',
  'tailLines',
  'limitBytes',
] as const;

export const podLog =
  (agents: NodeConnection | undefined): Handler =>
  async (scope) => {
    checkLogOptions(scope.query, scope.info.name);
    if (scope.upgrade?.headers.upgrade?.toLowerCase() === 'websocket')
      return streamToPod(agents, scope, pathOf);
    const pod = (await readObject(scope)).object as Pod;
    const answer = await connect(agents, scope, hostOf(pod), pathOf(pod, scope.query));
    if (!answer.ok) throw await refusalOf(answer);
    return respond(200, answer.body, { ...scope.headers, 'content-type': 'text/plain' });
  };

function pathOf(pod: Pod, asked: URLSearchParams): string {
  const container = chooseContainer(pod, asked.get('container'));
  const query = new URLSearchParams();
  for (const key of passedOn) {
    const value = asked.get(key);
    if (value !== null) query.set(key, value);
  }
  return `/containerLogs/${agentPath(pod, container)}?${query}`;
}

async function connect(
  agents: NodeConnection | undefined,
  scope: RequestScope,
  node: string,
  path: string,
): Promise<Response> {
  const { signal, shutdown, request, server } = scope;
  if (!agents) {
    throw newStatusError('ServiceUnavailable', 'this server is not connected to the node agents');
  }
  try {
    const until = shutdown ? AbortSignal.any([signal, shutdown]) : signal;
    return await agents(node, path, until, auditHeaders(request, server.random));
  } catch (error) {
    if (error instanceof StatusError) throw error;
    throw newInternalError(`cannot reach the node agent of ${node}: ${errorMessage(error)}`);
  }
}
