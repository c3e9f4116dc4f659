/**
 * Restricts the events that a kubelet writes: it must be their source, they must be about its node, its pods
 * or a load balancer, and their size is limited.
 */
import { type Event, eventResource } from '../../api/core/v1/event/event.ts';
import { podResource } from '../../api/core/v1/pod/pod.ts';
import { balancerReasons } from '../../api/core/v1/service/node-load-balancer.ts';
import { serviceResource } from '../../api/core/v1/service/service.ts';
import { storagePrefix } from '../../apimachinery/resource-definition.ts';
import type { Admission } from '../../apiserver/admission/plugin.ts';
import { waitForNow } from '../../apiserver/reads/freshness.ts';
import type { ServerContext } from '../../apiserver/server-context.ts';
import { findObject } from '../../apiserver/stored-object.ts';

/**
 * Maximum size of the JSON. The longest message that a recorder writes has 1,024 characters, and names have a
 * maximum length.
 */
export const maxEventBytes = 8 * 1024;

/** Parts of the server that the decision reads. */
type Reader = Pick<ServerContext, 'cache' | 'clock' | 'latest' | 'store'>;

/** Returns why the request is rejected; undefined if it is allowed. */
export async function restrictEvent(
  server: Reader,
  node: string,
  { object, old }: Admission,
): Promise<string | undefined> {
  for (const event of [object, old] as readonly (Event | undefined)[]) {
    const problem = event && (await reportProblem(server, node, event));
    if (problem !== undefined) return problem;
  }
  if (object && Buffer.byteLength(JSON.stringify(object)) > maxEventBytes) {
    return `an event that a node writes may have at most ${maxEventBytes} bytes: shorten its message`;
  }
  return undefined;
}

async function reportProblem(server: Reader, node: string, event: Event): Promise<string | undefined> {
  const name = JSON.stringify(node);
  if (event.source.host !== node || (event.reportingInstance && event.reportingInstance !== node))
    return `node ${name} is not the source of this event`;
  if (!(await isItsOwn(server, node, event))) return `node ${name} may only report about itself and its pods`;
  return undefined;
}

function isItsOwn(server: Reader, node: string, event: Event): boolean | Promise<boolean> {
  const { kind, name = '' } = event.involvedObject;
  if (kind === 'Node') return name === node;
  if (kind === 'Service') return isAboutBalancer(server, event);
  return kind === 'Pod' && isOwnPod(server, node, event);
}

/** Returns whether the event is one that nodes report about a load balancer. Any node may serve it. */
async function isAboutBalancer(server: Reader, { involvedObject, reason = '' }: Event): Promise<boolean> {
  const { namespace = '', name = '', uid } = involvedObject;
  if (namespace === '' || name === '' || !balancerReasons.has(reason)) return false;
  const service = await findObject(server, serviceResource, namespace, name);
  return service?.spec.type === 'LoadBalancer' && (uid === undefined || uid === service.metadata.uid);
}

async function isOwnPod(server: Reader, node: string, { involvedObject }: Event): Promise<boolean> {
  if (await belongs(server, node, involvedObject)) return true;
  // Another master may have bound the pod a moment ago, so the cache catches up before the event is rejected.
  await waitForNow(server, new AbortController());
  return belongs(server, node, involvedObject);
}

/**
 * Returns whether the pod is the node's. A deleted pod counts if the node reported about it while it existed.
 */
async function belongs(
  server: Reader,
  node: string,
  involvedObject: Event['involvedObject'],
): Promise<boolean> {
  const { namespace = '', name = '', uid } = involvedObject;
  if (namespace === '' || name === '') return false;
  const pod = await findObject(server, podResource, namespace, name);
  if (pod && (uid === undefined || uid === pod.metadata.uid)) return pod.spec.nodeName === node;
  return uid !== undefined && hasReported(server, node, involvedObject);
}

/**
 * Returns whether the node has reported about the pod. Only events named after the pod are examined:
 * client-go's recorder and minik8s' name them so.
 */
function hasReported({ cache }: Reader, node: string, about: Event['involvedObject']): boolean {
  const { namespace = '', name, uid } = about;
  return cache.list(`${storagePrefix(eventResource, namespace)}${name}.`).some(({ object }) => {
    const { involvedObject, source } = object as Event;
    return source.host === node && involvedObject.kind === 'Pod' && involvedObject.uid === uid;
  });
}
