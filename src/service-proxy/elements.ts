/** The elements of the kernel's maps and sets that implement service rules. Pure. */
import type { AddressFamily } from '../base/address-families.ts';
import { blockRanges } from '../base/address-ranges.ts';
import { endpointIdLimit, endpointIds } from './endpoint-ids.ts';
import type { EndpointAddress, NodePortRules, ServicePortRules } from './service-map.ts';

/**
 * Marks that carry the drawn slot, because nft 1.0.6 cannot add to a map whose key holds a bare number. With
 * session affinity the mark carries the identity of an endpoint, above all slots (endpoint-ids.ts). Their
 * high bits differ from the marks of routing rules, and determine whether the packet's source is masqueraded
 * when the packet leaves; the mark is cleared there. Only a connection's first packet ever carries it.
 */
export const slotMark = 0x4d000000;
export const masqueradeSlotMark = 0x4e000000;

/** Maps. The `…endpoint-ids` lead from a slot to the mark of an endpoint's identity. */
type MapName =
  | 'services'
  | 'endpoints'
  | 'endpoint-ids'
  | 'node-ports'
  | 'balancer-ports'
  | 'node-port-endpoints'
  | 'node-port-endpoint-ids';
/**
 * Sets. The `limited-…` contain addresses and ports that accept only some clients; the `…-clients` contain
 * the ranges of these clients.
 */
type SetName =
  | 'hairpin'
  | 'own-ports'
  | 'limited-addresses'
  | 'address-clients'
  | 'limited-ports'
  | 'port-clients';
export type ElementName = MapName | SetName;

/** The kernel's elements by name: each key with its value (empty in a set). */
export type Elements = Readonly<Record<ElementName, ReadonlyMap<string, string>>>;

export type MutableElements = Record<ElementName, Map<string, string>>;

export const elementNames: readonly ElementName[] = [
  'services',
  'endpoints',
  'endpoint-ids',
  'node-ports',
  'balancer-ports',
  'node-port-endpoints',
  'node-port-endpoint-ids',
  'hairpin',
  'own-ports',
  'limited-addresses',
  'address-clients',
  'limited-ports',
  'port-clients',
];

export const noElements = (): MutableElements =>
  Object.fromEntries(elementNames.map((name) => [name, new Map()])) as unknown as MutableElements;

/**
 * Returns the elements of a family's table for these rules, whose addresses are of that family. The first of
 * two rules for one address and port wins.
 */
export function elementsOf(rules: Iterable<ServicePortRules>, family: AddressFamily = 'IPv4'): Elements {
  const elements = noElements();
  for (const rule of rules) addRule(elements, rule, family);
  return elements;
}

function addRule(elements: MutableElements, rule: ServicePortRules, family: AddressFamily): void {
  for (const address of rule.addresses) addClusterPort(elements, rule, address, family);
  const { nodePort, balancerPort } = rule;
  if (nodePort) addPort(elements, 'node-ports', rule, nodePort, family);
  if (balancerPort) addPort(elements, 'balancer-ports', rule, balancerPort, family);
  const outside = [...(nodePort?.endpoints ?? []), ...(balancerPort?.endpoints ?? [])];
  for (const { ip, local } of [...rule.endpoints, ...outside]) {
    if (local) elements.hairpin.set(`${ip} . ${ip}`, '');
  }
}

function addClusterPort(
  elements: MutableElements,
  rule: ServicePortRules,
  address: string,
  family: AddressFamily,
): void {
  const key = `${address} . ${rule.protocol} . ${rule.port}`;
  const count = rule.endpoints.length;
  if (count === 0 || elements.services.has(key)) return;
  elements.services.set(key, `goto ${drawOf(rule)}-${count}`);
  addEndpoints(elements, ['endpoints', 'endpoint-ids'], { key, mark: slotMark }, rule.endpoints, rule);
  limit(elements, ['limited-addresses', 'address-clients'], key, acceptedRanges(rule.clients, family));
}

/** Returns the part of a chain's name that determines how it chooses an endpoint. */
const drawOf = ({ affinitySeconds }: ServicePortRules) =>
  affinitySeconds === undefined ? 'random' : `sticky-${affinitySeconds}`;

type EndpointNames =
  | readonly ['endpoints', 'endpoint-ids']
  | readonly ['node-port-endpoints', 'node-port-endpoint-ids'];

/** Adds the endpoints that a slot of `key` leads to: with affinity by their identities, else directly. */
function addEndpoints(
  elements: MutableElements,
  [targets, identities]: EndpointNames,
  { key, mark }: { readonly key: string; readonly mark: number },
  endpoints: readonly EndpointAddress[],
  { affinitySeconds }: ServicePortRules,
): void {
  const ids = affinitySeconds === undefined ? undefined : endpointIds(endpoints);
  endpoints.forEach(({ ip, port }, slot) => {
    const chosen = mark + (ids ? endpointIdLimit + (ids[slot] as number) : slot);
    if (ids) elements[identities].set(`${key} . ${mark + slot}`, String(chosen));
    elements[targets].set(`${key} . ${chosen}`, `${ip} . ${port}`);
  });
}

type LimitNames =
  | readonly ['limited-addresses', 'address-clients']
  | readonly ['limited-ports', 'port-clients'];

function limit(
  elements: MutableElements,
  [limited, accepted]: LimitNames,
  key: string,
  ranges: readonly string[] | undefined,
): void {
  if (!ranges) return;
  elements[limited].set(key, '');
  for (const range of ranges) elements[accepted].set(`${key} . ${range}`, '');
}

/** Returns the ranges of a family's clients that are accepted, as nft writes them; undefined for all. */
const acceptedRanges = (clients: readonly string[] | undefined, family: AddressFamily) =>
  clients &&
  blockRanges(
    clients.map((cidr) => ({ cidr, except: [] })),
    family === 'IPv4' ? 4 : 6,
  );

function addPort(
  elements: MutableElements,
  name: 'node-ports' | 'balancer-ports',
  rule: ServicePortRules,
  nodePort: NodePortRules,
  family: AddressFamily,
): void {
  if (nodePort.endpoints.length === 0) return;
  const key = `${rule.protocol} . ${nodePort.port}`;
  if (elements[name].has(key)) return;
  const kind = nodePort.masquerade ? 'node-port' : 'node-port-local';
  elements[name].set(key, `goto ${kind}-${drawOf(rule)}-${nodePort.endpoints.length}`);
  const mark = nodePort.masquerade ? masqueradeSlotMark : slotMark;
  const names = ['node-port-endpoints', 'node-port-endpoint-ids'] as const;
  addEndpoints(elements, names, { key, mark }, nodePort.endpoints, rule);
  limit(elements, ['limited-ports', 'port-clients'], key, acceptedRanges(nodePort.clients, family));
}
