/** What all requests to the agent of a pod's node have in common. */
import { ephemeralContainersOf } from '../../api/core/v1/ephemeral-containers.ts';
import { initContainersOf } from '../../api/core/v1/init-containers.ts';
import { type Pod, podResource } from '../../api/core/v1/pod.ts';
import { newBadRequest, newInternalError, newStatusError } from '../../apimachinery/status-error.ts';

/** The one of that name, or the only one. kubectl prints the refusals as they stand (registry/core/pod LogLocation). */
export function chooseContainer(pod: Pod, wanted: string | null): string {
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

const containersOf = ({ spec }: Pod) =>
  [...spec.containers, ...initContainersOf(spec), ...ephemeralContainersOf(spec)].map(({ name }) => name);

/** The node the pod is bound to. */
export function hostOf(pod: Pod): string {
  if (pod.spec.nodeName) return pod.spec.nodeName;
  throw newBadRequest(`pod ${pod.metadata.name} does not have a host assigned`);
}

/** `namespace/pod`, and what follows, as part of a path of the agent's. */
export function agentPath({ metadata }: Pod, ...more: readonly string[]): string {
  return [metadata.namespace ?? '', metadata.name, ...more].map(encodeURIComponent).join('/');
}

/** The node agent explains itself in plain text. */
export async function refusalOf(answer: Response) {
  const text = (await answer.text()).trim().slice(0, 1000);
  if (answer.status === 400) return newBadRequest(text);
  if (answer.status === 404) return newStatusError('NotFound', text || podResource.plural);
  return newInternalError(`the node agent answered ${answer.status}: ${text}`);
}
