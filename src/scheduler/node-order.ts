/** Orders the nodes so that zones take turns and the first nodes cover all zones (upstream: node_tree.go). */
import type { NodeInfo } from './node-info.ts';

const zoneKeys = ['topology.kubernetes.io/region', 'topology.kubernetes.io/zone'];

export function inTurns<N extends NodeInfo>(nodes: Iterable<N>): N[] {
  const zones = new Map<string, N[]>();
  for (const node of nodes) {
    const zone = zoneOf(node);
    const known = zones.get(zone);
    if (known) known.push(node);
    else zones.set(zone, [node]);
  }
  const lists = [...zones.values()];
  const ordered: N[] = [];
  for (let round = 0; lists.some(({ length }) => length > round); round++)
    for (const list of lists) ordered.push(...list.slice(round, round + 1));
  return ordered;
}

export const zoneOf = ({ node }: Pick<NodeInfo, 'node'>): string =>
  zoneKeys.map((key) => node.metadata.labels?.[key] ?? '').join('\0');
