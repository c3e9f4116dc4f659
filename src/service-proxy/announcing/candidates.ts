/** Nodes that may answer for an address of the pool, and their order. Pure. */
import { excludedLabel } from '../../api/core/v1/node/labels.ts';
import type { Service } from '../../api/core/v1/service/service.ts';
import type { EndpointSlice } from '../../api/discovery/v1/endpoint-slice.ts';
import { isTerminating, type KubeObject } from '../../apimachinery/meta.ts';
import { localEndpoints } from '../health-ports.ts';

export interface Candidacy {
  readonly address: string;
  /** The Service that has the address; undefined if it does not exist. */
  readonly service: Service | undefined;
  readonly slices: readonly EndpointSlice[];
  /** Metadata of this node; undefined before its registration. */
  readonly node: KubeObject | undefined;
}

/** Returns true if the node may answer for the address: with the policy Local it must have a ready pod. */
export function isCandidate({ address, service, slices, node }: Candidacy): boolean {
  if (!service || isTerminating(service) || !node || isTerminating(node)) return false;
  if (node.metadata.labels?.[excludedLabel] !== undefined) return false;
  const ingress = service.status?.loadBalancer.ingress ?? [];
  if (!ingress.some(({ ip, ipMode }) => ip === address && ipMode !== 'Proxy')) return false;
  return service.spec.externalTrafficPolicy !== 'Local' || localEndpoints(slices, node.metadata.name) > 0;
}

/**
 * Returns the position of a node in the order in which nodes try to hold an address. The order differs from
 * address to address, so that nodes share the addresses, and is the same on every node.
 */
export function rankOf(address: string, node: string, nodes: readonly string[]): number {
  const own = weightOf(address, node);
  return nodes.filter((other) => {
    const weight = weightOf(address, other);
    return weight > own || (weight === own && other < node);
  }).length;
}

/** FNV-1a with a final mix, since similar names differ in their last characters. */
function weightOf(address: string, node: string): number {
  let hash = 0x811c9dc5;
  for (const character of `${address} ${node}`) {
    hash = Math.imul(hash ^ (character.codePointAt(0) ?? 0), 0x01000193);
  }
  hash = Math.imul(hash ^ (hash >>> 16), 0x45d9f3b);
  return (hash ^ (hash >>> 16)) >>> 0;
}
