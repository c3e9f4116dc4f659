/** The machines that wait for admission to the cluster, and their certificate requests. Pure. */
import type { JsonObject } from '../../apimachinery/equality.ts';
import { metadataOf, recordsAt, textAt } from '../objects/objects.ts';

const nodeSigners = ['kubernetes.io/kube-apiserver-client-kubelet', 'kubernetes.io/kubelet-serving'];

/** Returns the names of the undecided certificate requests of nodes, by node; other requests are ignored. */
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

/**
 * Returns the node of a request. The control plane makes the requested Node the owner of a machine's request;
 * a node's own request has its name as the user.
 */
function nodeOf(request: JsonObject): string | undefined {
  if (!nodeSigners.includes(textAt(request, 'spec', 'signerName'))) return undefined;
  const owner = recordsAt(request, 'metadata', 'ownerReferences').find(({ kind }) => kind === 'Node');
  if (owner) return textAt(owner, 'name') || undefined;
  const [, user] = /^system:node:(.+)$/.exec(textAt(request, 'spec', 'username')) ?? [];
  return user;
}
