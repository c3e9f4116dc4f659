/** Helpers of all requests to the kubelet of a pod's node. */
import { ephemeralContainersOf } from '../../api/core/v1/container/ephemeral-containers.ts';
import { initContainersOf } from '../../api/core/v1/container/init-containers.ts';
import { type Pod, podResource } from '../../api/core/v1/pod/pod.ts';
import { newBadRequest, newInternalError, newStatusError } from '../../apimachinery/status-error.ts';

/**
 * Returns the container of that name, or the only one. kubectl prints the errors unchanged (registry/core/pod
 * LogLocation).
 */
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

/** Returns the name of the node that the pod is bound to. */
export function hostOf(pod: Pod): string {
  if (pod.spec.nodeName) return pod.spec.nodeName;
  throw newBadRequest(`pod ${pod.metadata.name} does not have a host assigned`);
}

/** Returns `namespace/pod`, and further segments, as part of a path on the kubelet. */
export function agentPath({ metadata }: Pod, ...more: readonly string[]): string {
  return [metadata.namespace ?? '', metadata.name, ...more].map(encodeURIComponent).join('/');
}

/** Converts an error of the kubelet, whose message is plain text. */
export async function refusalOf(answer: Response) {
  const text = (await answer.text()).trim().slice(0, 1000);
  if (answer.status === 400) return newBadRequest(text);
  if (answer.status === 404) return newStatusError('NotFound', text || podResource.plural);
  return newInternalError(`the node agent answered ${answer.status}: ${text}`);
}
