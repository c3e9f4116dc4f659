/** What a node agent may report: events of its own, about itself and its pods, and no larger than such events are. */
import { type Event, eventResource } from '../../api/core/v1/event.ts';
import { podResource } from '../../api/core/v1/pod.ts';
import { storagePrefix } from '../../apimachinery/resource-definition.ts';
import type { Admission } from '../../apiserver/admission/plugin.ts';
import { waitForNow } from '../../apiserver/freshness.ts';
import type { ServerContext } from '../../apiserver/server-context.ts';
import { findObject } from '../../apiserver/stored-object.ts';

/** Of its JSON. The longest message a recorder writes has 1,024 characters, and names are bounded. */
export const maxEventBytes = 8 * 1024;

/** What is read to decide. */
type Reader = Pick<ServerContext, 'cache' | 'clock' | 'latest' | 'store'>;

/** Why the request is refused; undefined when it is allowed. */
export async function restrictEvent(
  server: Reader,
  node: string,
  { object, old }: Admission,
): Promise<string | undefined> {
  const name = JSON.stringify(node);
  for (const event of [object, old] as readonly (Event | undefined)[]) {
    if (!event) continue;
    if (event.source.host !== node || (event.reportingInstance && event.reportingInstance !== node)) {
      return `node ${name} is not the source of this event`;
    }
    if (!(await isItsOwn(server, node, event)))
      return `node ${name} may only report about itself and its pods`;
  }
  if (object && Buffer.byteLength(JSON.stringify(object)) > maxEventBytes) {
    return `an event that a node writes may have at most ${maxEventBytes} bytes: shorten its message`;
  }
  return undefined;
}

function isItsOwn(server: Reader, node: string, event: Event): boolean | Promise<boolean> {
  const { kind, name = '' } = event.involvedObject;
  if (kind === 'Node') return name === node;
  return kind === 'Pod' && isOwnPod(server, node, event);
}

async function isOwnPod(server: Reader, node: string, { involvedObject }: Event): Promise<boolean> {
  if (await belongs(server, node, involvedObject)) return true;
  // Another master may have bound the pod a moment ago: the cache catches up before this refuses.
  await waitForNow(server, new AbortController());
  return belongs(server, node, involvedObject);
}

/** A pod that is gone was the node's when the node has reported about it while it was there. */
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

/** Events about a pod are named after it (client-go's recorder and ours), so few have to be looked at. */
function hasReported({ cache }: Reader, node: string, about: Event['involvedObject']): boolean {
  const { namespace = '', name, uid } = about;
  return cache.list(`${storagePrefix(eventResource, namespace)}${name}.`).some(({ object }) => {
    const { involvedObject, source } = object as Event;
    return source.host === node && involvedObject.kind === 'Pod' && involvedObject.uid === uid;
  });
}
