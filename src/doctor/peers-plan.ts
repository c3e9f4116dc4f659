/** The other nodes of a cluster, whose addresses are the only ones that a node tries to reach. Pure. */
import { macAnnotation, nodeIPAnnotation, podCIDRAnnotation } from '../api/core/v1/node/annotations.ts';
import type { Node } from '../api/core/v1/node/node.ts';
import { addressAt, addressKind, parseRange } from '../base/addresses.ts';

/** Another node, as its Node object names it. */
export interface Peer {
  readonly node: string;
  readonly address: string;
  /** Port of its agent. */
  readonly port: number;
  /** The overlay's own address of the node; absent for one without an overlay. */
  readonly overlayAddress?: string;
}

/** Returns the peers of a node among all Nodes of the cluster. */
export const peersOf = (nodes: readonly Node[], ownName: string): readonly Peer[] =>
  nodes.filter(({ metadata }) => metadata.name !== ownName).flatMap(peerOf);

/**
 * Returns the peer of a Node; none for a Node whose address is of no other machine, or whose agent does not
 * listen. A node with the annotation of a MAC address receives packets of the overlay.
 */
function peerOf({ metadata, status }: Node): readonly Peer[] {
  const address = status?.addresses?.find(({ type }) => type === 'InternalIP')?.address;
  const port = status?.daemonEndpoints?.kubeletEndpoint?.Port ?? 0;
  if (address === undefined || addressKind(address) !== 'unicast' || port === 0) return [];
  const { annotations = {} } = metadata;
  const range = parseRange(annotations[podCIDRAnnotation] ?? '');
  const peer = { node: metadata.name, address, port };
  if (range === undefined || annotations[nodeIPAnnotation] !== address || !annotations[macAnnotation])
    return [peer];
  return [{ ...peer, overlayAddress: addressAt(range, 0) }];
}
