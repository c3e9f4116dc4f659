/** GET pods/NAME/log: the node agent's answer, passed on as it comes. */
import { type Pod, podResource } from '../../api/core/v1/pod.ts';
import {
  newBadRequest,
  newInternalError,
  newStatusError,
  StatusError,
} from '../../apimachinery/status-error.ts';
import { errorMessage } from '../../base/log.ts';
import type { RequestScope } from '../request-scope.ts';
import { respond } from '../respond.ts';
import { readObject } from '../verbs/get.ts';

/** What the node agent understands; the container stands in its path. */
const passedOn = [
  'follow',
  'previous',
  'sinceSeconds',
  'sinceTime',
  'timestamps',
  'tailLines',
  'limitBytes',
] as const;

export async function podLog(scope: RequestScope): Promise<Response> {
  const pod = (await readObject(scope)).object as Pod;
  const container = chooseContainer(pod, scope.query.get('container') ?? '');
  const { name, namespace = '' } = pod.metadata;
  const { nodeName } = pod.spec;
  if (!nodeName) {
    throw newBadRequest(`pod ${name} does not have a host assigned`);
  }
  const query = new URLSearchParams();
  for (const key of passedOn) {
    const value = scope.query.get(key);
    if (value !== null) query.set(key, value);
  }
  const segments = [namespace, name, container].map(encodeURIComponent).join('/');
  const answer = await connect(scope, nodeName, `/containerLogs/${segments}?${query}`);
  if (!answer.ok) throw await refusalOf(answer);
  return respond(200, answer.body, { ...scope.headers, 'content-type': 'text/plain' });
}

/** kubectl prints these as they stand (registry/core/pod LogLocation). */
function chooseContainer(pod: Pod, wanted: string): string {
  const all = containersOf(pod);
  const { name } = pod.metadata;
  if (wanted) {
    if (all.includes(wanted)) return wanted;
    throw newBadRequest(`container ${wanted} is not valid for pod ${name}`);
  }
  const regular = pod.spec.containers.map((container) => container.name);
  if (regular.length === 1 && regular[0]) return regular[0];
  throw newBadRequest(
    `a container name must be specified for pod ${name}, choose one of: [${regular.join(' ')}]`,
  );
}

function containersOf(pod: Pod): string[] {
  const { initContainers = [], ephemeralContainers = [] } = pod.spec as {
    initContainers?: readonly { name: string }[];
    ephemeralContainers?: readonly { name: string }[];
  };
  return [...pod.spec.containers, ...initContainers, ...ephemeralContainers].map(({ name }) => name);
}

async function connect(scope: RequestScope, node: string, path: string): Promise<Response> {
  const { nodeConnection } = scope.server;
  const { signal, shutdown } = scope;
  if (!nodeConnection) {
    throw newStatusError('ServiceUnavailable', 'this server is not connected to the node agents');
  }
  try {
    return await nodeConnection(node, path, shutdown ? AbortSignal.any([signal, shutdown]) : signal);
  } catch (error) {
    if (error instanceof StatusError) throw error;
    throw newInternalError(`cannot reach the node agent of ${node}: ${errorMessage(error)}`);
  }
}

/** The node agent explains itself in plain text. */
async function refusalOf(answer: Response) {
  const text = (await answer.text()).trim().slice(0, 1000);
  if (answer.status === 400) return newBadRequest(text);
  if (answer.status === 404) return newStatusError('NotFound', text || podResource.plural);
  return newInternalError(`the node agent answered ${answer.status}: ${text}`);
}
