/** Which machines wait to be let into the cluster, and by which requests. Pure. */
import type { JsonObject } from '../apimachinery/equality.ts';
import { metadataOf, recordsAt, textAt } from './objects.ts';

const nodeSigners = ['kubernetes.io/kube-apiserver-client-kubelet', 'kubernetes.io/kubelet-serving'];

/** Names of the undecided certificate requests of nodes, by node; other requests are ignored. */
export function waitingNodes(requests: readonly JsonObject[]): ReadonlyMap<string, readonly string[]> {
  const waiting = requests.flatMap((request) => {
    const node = nodeOf(request);
    const decided = recordsAt(request, 'status', 'conditions').length > 0;
    return node === undefined || decided ? [] : [{ node, name: metadataOf(request).name }];
  });
  return new Map(
    [...Map.groupBy(waiting, ({ node }) => node)].map(([node, group]) => [
      node,
      group.map(({ name }) => name),
    ]),
  );
}

/** The control plane makes the Node that a machine asks to be the request's owner; a node's own request says its name. */
function nodeOf(request: JsonObject): string | undefined {
  if (!nodeSigners.includes(textAt(request, 'spec', 'signerName'))) return undefined;
  const owner = recordsAt(request, 'metadata', 'ownerReferences').find(({ kind }) => kind === 'Node');
  if (owner) return textAt(owner, 'name') || undefined;
  const [, user] = /^system:node:(.+)$/.exec(textAt(request, 'spec', 'username')) ?? [];
  return user;
}
