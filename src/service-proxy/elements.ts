/** The elements of the kernel's maps and sets that implement service rules. Pure. */
import type { ServicePortRules } from './service-map.ts';

/**
 * Marks that carry the drawn slot, because nft 1.0.6 cannot add to a map whose key holds a bare number. Their
 * high bits differ from the marks of routing rules, and determine whether the packet's source is masqueraded
 * when the packet leaves; the mark is cleared there. Only a connection's first packet ever carries it.
 */
export const slotMark = 0x4d000000;
export const masqueradeSlotMark = 0x4e000000;

type MapName = 'services' | 'endpoints' | 'node-ports' | 'node-port-endpoints';
export type ElementName = MapName | 'hairpin';

/** The kernel's elements by name: each key with its value (empty in a set). */
export type Elements = Readonly<Record<ElementName, ReadonlyMap<string, string>>>;

export type MutableElements = Record<ElementName, Map<string, string>>;

export const elementNames: readonly ElementName[] = [
  'services',
  'endpoints',
  'node-ports',
  'node-port-endpoints',
  'hairpin',
];

export const noElements = (): MutableElements => ({
  services: new Map(),
  endpoints: new Map(),
  'node-ports': new Map(),
  'node-port-endpoints': new Map(),
  hairpin: new Map(),
});

/**
 * Returns the elements of the table for these rules. The first of two rules for one address and port wins.
 */
export function elementsOf(rules: Iterable<ServicePortRules>): Elements {
  const elements = noElements();
  for (const rule of rules) {
    for (const address of rule.addresses) addClusterPort(elements, rule, address);
    addNodePort(elements, rule);
    for (const endpoint of [...rule.endpoints, ...(rule.nodePort?.endpoints ?? [])]) {
      if (endpoint.local) elements.hairpin.set(`${endpoint.ip} . ${endpoint.ip}`, '');
    }
  }
  return elements;
}

function addClusterPort(elements: MutableElements, rule: ServicePortRules, address: string): void {
  const key = `${address} . ${rule.protocol} . ${rule.port}`;
  const count = rule.endpoints.length;
  if (count === 0 || elements.services.has(key)) return;
  elements.services.set(key, `goto ${rule.affinity ? 'sticky' : 'random'}-${count}`);
  rule.endpoints.forEach(({ ip, port }, slot) => {
    elements.endpoints.set(`${key} . ${slotMark + slot}`, `${ip} . ${port}`);
  });
}

function addNodePort(elements: MutableElements, rule: ServicePortRules): void {
  const { nodePort } = rule;
  if (!nodePort || nodePort.endpoints.length === 0) return;
  const key = `${rule.protocol} . ${nodePort.port}`;
  if (elements['node-ports'].has(key)) return;
  const chain = `node-port-${rule.affinity ? 'sticky' : 'random'}${nodePort.masquerade ? '' : '-local'}`;
  elements['node-ports'].set(key, `goto ${chain}-${nodePort.endpoints.length}`);
  const mark = nodePort.masquerade ? masqueradeSlotMark : slotMark;
  nodePort.endpoints.forEach(({ ip, port }, slot) => {
    elements['node-port-endpoints'].set(`${key} . ${mark + slot}`, `${ip} . ${port}`);
  });
}
