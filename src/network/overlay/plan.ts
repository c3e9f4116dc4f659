/**
 * Routes for packets to other nodes' pods: from the metadata of Nodes to the wanted state of the kernel. All
 * of the metadata except the creation time is written by the node itself, so it is validated before it
 * reaches the kernel. The API server has checked that the range in the annotation is the node's own
 * (kube-apiserver/admission/node-restriction.ts).
 */
import {
  macAnnotation,
  modeAnnotation,
  nodeIPAnnotation,
  nodeIPv6Annotation,
  podCIDR6Annotation,
  podCIDRAnnotation,
} from '../../api/core/v1/node/annotations.ts';
import type { KubeObject } from '../../apimachinery/meta.ts';
import { canonicalRange, familyRanges } from '../../base/address-families.ts';
import {
  addressAt,
  formatRange,
  hexOfIPv4,
  parseIPv4,
  rangeAround,
  requireRange,
} from '../../base/addresses.ts';
import type { NetworkNames } from '../rules.ts';
import {
  addIPv6,
  announcedAddress6,
  announcedRange6,
  firstOf6,
  type IPv6Facts,
  ownRoutes6,
  type PeerIPv6,
} from './ipv6-plan.ts';
import { contains, Ranges } from './ranges.ts';
import type { OverlayState, VxlanLink } from './state.ts';

/**
 * `host-routes` sends packets unchanged to nodes on the same link; `vxlan` encapsulates them and requires no
 * common link.
 */
export type OverlayMode = 'vxlan' | 'host-routes';

/**
 * Bytes that VXLAN adds to an IPv4 packet: an outer IP, UDP and VXLAN header and the inner Ethernet header.
 */
export const vxlanOverhead = 50;

/** The link of this machine that has the node's address. */
export interface Underlay {
  readonly dev: string;
  readonly mtu: number;
  /** The network on that link, such as `192.0.2.0/24`. */
  readonly network: string;
}

export interface OverlayFacts {
  readonly nodeName: string;
  readonly nodeIP: string;
  /** The node's address of IPv6; undefined if it has none. */
  readonly nodeIPv6?: string | undefined;
  /**
   * Ranges of this node's pods, one or one of each family (`familyRanges`), as the two others; undefined
   * while it has none.
   */
  readonly podCIDR: string | undefined;
  readonly clusterCIDR: string;
  readonly serviceCIDR: string;
  /** Further ranges of Services, of both families; default none. */
  readonly furtherRanges?: readonly string[] | undefined;
  readonly mode: OverlayMode;
  /** Undefined while no link has the node's address. */
  readonly underlay: Underlay | undefined;
  /** The link that has `nodeIPv6`; undefined without one. */
  readonly underlay6?: Underlay | undefined;
}

export interface OverlayPlan {
  readonly state: OverlayState;
  /**
   * Annotations for this node's Node, with null for an absent value; undefined if there is no Node, or no
   * other node that reads them.
   */
  readonly annotations: Readonly<Record<string, string | null>> | undefined;
  /** One line for each node that cannot be reached, with the reason. */
  readonly problems: readonly string[];
}

const planAnnotations = [
  ...[modeAnnotation, macAnnotation, podCIDRAnnotation, nodeIPAnnotation],
  ...[podCIDR6Annotation, nodeIPv6Annotation],
] as const;

/** Returns the parts of a Node on which the plan depends as a text; equal texts give equal plans. */
export function planKey({ metadata }: KubeObject): string {
  const { uid, creationTimestamp, annotations = {} } = metadata;
  return JSON.stringify([uid, creationTimestamp, planAnnotations.map((name) => annotations[name])]);
}

/**
 * Returns the MTU of pods' links: the largest packet that fits through the underlay, with or without
 * encapsulation.
 */
export const podMtu = (mode: OverlayMode, underlayMtu: number) =>
  mode === 'vxlan' ? underlayMtu - vxlanOverhead : underlayMtu;

/**
 * Returns the overlay's MAC address of the node with that range. It is the same after restarts, and unique
 * per node.
 */
export function macOf(podCIDR: string): string {
  const hex = hexOfIPv4(firstOf(podCIDR));
  return ['0a', '58', ...(hex.match(/../g) ?? [])].join(':');
}

/**
 * Plans the overlay. Without other nodes, the only routes are those of `ownRoutes`. If this node's Node does
 * not exist, or has no range yet, the state is empty.
 */
export function planOverlay(
  given: OverlayFacts,
  nodes: readonly KubeObject[],
  { vxlanLink: linkName }: NetworkNames,
): OverlayPlan {
  const facts = ofIPv4(given);
  const own = nodes.find(({ metadata }) => metadata.name === facts.nodeName);
  const podCIDR = own && rangeOf(facts.podCIDR);
  if (!podCIDR) return { state: noOverlay, annotations: undefined, problems: [] };
  const { underlay } = facts;
  const six = ofIPv6(given);
  const routes = new Map([
    ...ownRoutes(facts),
    ...ownRoutes6(
      six,
      underlay?.dev,
      facts.furtherRanges?.filter((range) => range.includes(':')),
    ),
  ]);
  const others = nodes.filter((node) => node !== own);
  if (others.length === 0 || !underlay) return planAlone(facts, routes);
  const link = facts.mode === 'vxlan' ? vxlanLink(facts.nodeIP, underlay, podCIDR, six) : undefined;
  const { peers, problems } = peersOf(facts, podCIDR, others);
  const tables = {
    routes,
    neighbours: new Map<string, string>(),
    forwarding: new Map<string, string>(),
    senders: new Set<string>(),
  };
  for (const peer of peers) {
    const problem = addPeer(tables, peer, underlay, link && linkName);
    if (problem !== undefined) problems.push(problem);
  }
  problems.push(...addIPv6(tables, six, peers, link && linkName));
  return { state: { vxlan: link, ...tables }, annotations: annotationsOf(facts, link?.mac, six), problems };
}

/** Returns the facts with the ranges of IPv4 alone. */
const ofIPv4 = (facts: OverlayFacts): OverlayFacts => ({
  ...facts,
  podCIDR: facts.podCIDR === undefined ? undefined : familyRanges(facts.podCIDR).IPv4,
  clusterCIDR: familyRanges(facts.clusterCIDR).IPv4,
  serviceCIDR: familyRanges(facts.serviceCIDR).IPv4,
});

/** Returns the facts about IPv6; undefined unless the cluster and this node have ranges of it. */
function ofIPv6(facts: OverlayFacts): IPv6Facts | undefined {
  const { podCIDR = '', clusterCIDR, serviceCIDR, nodeIPv6, underlay6 } = facts;
  const [own, cluster, services] = [podCIDR, clusterCIDR, serviceCIDR].map((text) => familyRanges(text).IPv6);
  const range = own === undefined ? undefined : canonicalRange(own);
  if (range === undefined || cluster === undefined || services === undefined) return undefined;
  return { podCIDR: range, clusterCIDR: cluster, serviceCIDR: services, nodeIPv6, underlay: underlay6 };
}

/**
 * Returns the routes that do not depend on other nodes. Packets to unused pod addresses are rejected here:
 * the default route would carry them out of the cluster. Programs of this machine reach Services without a
 * default route too: the kernel looks for a route before the service rules replace a Service's address.
 */
function ownRoutes(facts: OverlayFacts): Map<string, string> {
  const { clusterCIDR, serviceCIDR, furtherRanges = [], nodeIP, underlay } = facts;
  const routes = new Map([[networkOf(clusterCIDR), unreachable]]);
  const services = [networkOf(serviceCIDR), ...furtherRanges.filter((range) => !range.includes(':'))];
  if (underlay) for (const range of services) routes.set(range, `dev ${underlay.dev} src ${nodeIP}`);
  return routes;
}

/** Returns the annotations by which other nodes reach this one. */
const annotationsOf = (
  { mode, podCIDR, nodeIP }: OverlayFacts,
  mac: string | undefined,
  six: IPv6Facts | undefined,
) => ({
  [modeAnnotation]: mode,
  [macAnnotation]: mac ?? null,
  [podCIDRAnnotation]: podCIDR ?? null,
  [nodeIPAnnotation]: nodeIP,
  ...(six && { [podCIDR6Annotation]: six.podCIDR, [nodeIPv6Annotation]: six.nodeIPv6 ?? null }),
});

const unreachedPeer = ({ name, ip }: Peer, { network, dev }: Underlay) =>
  `node ${name} at ${ip} is not on the link of this node (${network} on ${dev}), and one of the two has --overlay host-routes: give both --overlay vxlan`;

interface Tables {
  readonly routes: Map<string, string>;
  readonly neighbours: Map<string, string>;
  readonly forwarding: Map<string, string>;
  readonly senders: Set<string>;
}

/** Adds the way to the pods of a peer. Returns the problem if there is none. */
function addPeer(tables: Tables, peer: Peer, underlay: Underlay, linkName: string | undefined) {
  if (linkName !== undefined && peer.mac !== undefined) addTunnel(tables, peer, peer.mac, linkName);
  else if (contains(underlay.network, `${peer.ip}/32`))
    tables.routes.set(peer.podCIDR, `via ${peer.ip} dev ${underlay.dev}`);
  else return unreachedPeer(peer, underlay);
  return undefined;
}

/** Adds the entries by which packets to the pods of a peer travel in VXLAN. */
function addTunnel(
  { routes, neighbours, forwarding, senders }: Tables,
  { podCIDR, ip }: Pick<Peer, 'podCIDR' | 'ip'>,
  mac: string,
  linkName: string,
): void {
  const address = firstOf(podCIDR);
  routes.set(podCIDR, `via ${address} dev ${linkName} onlink`);
  neighbours.set(address, mac);
  forwarding.set(mac, ip);
  senders.add(ip);
}

/** Returns the plan of a node without other nodes, or without a link to them. */
function planAlone({ underlay, nodeIP }: OverlayFacts, routes: ReadonlyMap<string, string>): OverlayPlan {
  const problems = underlay ? [] : [`no link of this machine has the node's address ${nodeIP}`];
  return { state: bare(routes), annotations: undefined, problems };
}

/** Route of addresses that belong to no node. */
const unreachable = 'unreachable';

/** Returns the number of networks of other nodes that have a route. */
export const routesToNodes = ({ routes }: OverlayState): number =>
  [...routes.values()].filter((route) => route.startsWith('via ')).length;

const bare = (routes: ReadonlyMap<string, string>): OverlayState => ({
  vxlan: undefined,
  routes,
  neighbours: new Map(),
  forwarding: new Map(),
  senders: new Set(),
});

/** The state of a machine that is not a node. */
export const noOverlay = bare(new Map());

function vxlanLink(
  local: string,
  { dev, mtu }: Underlay,
  podCIDR: string,
  six: IPv6Facts | undefined,
): VxlanLink {
  const link = { local, dev, mac: macOf(podCIDR), mtu: mtu - vxlanOverhead, address: firstOf(podCIDR) };
  return six ? { ...link, address6: firstOf6(six.podCIDR) } : link;
}

interface Peer extends PeerIPv6 {
  readonly podCIDR: string;
  readonly ip: string;
}

/**
 * Returns the nodes that have announced themselves ready for packets. If two nodes claim the same range,
 * address or MAC address, the older one gets it: a new node takes nothing from existing ones.
 */
function peersOf(facts: OverlayFacts, podCIDR: string, others: readonly KubeObject[]) {
  const taken = new Map([
    [facts.nodeIP, facts.nodeName],
    [macOf(podCIDR), facts.nodeName],
  ]);
  const ranges = new Ranges();
  ranges.claim(podCIDR, facts.nodeName);
  const peers: Peer[] = [];
  const problems: string[] = [];
  for (const node of others.toSorted(olderFirst)) {
    const peer = readPeer(node);
    if (!peer) continue;
    const problem = typeof peer === 'string' ? peer : claim(peer, facts.clusterCIDR, taken, ranges);
    if (problem !== undefined) problems.push(`node ${node.metadata.name}: ${problem}`);
    else if (typeof peer !== 'string') peers.push(peer);
  }
  return { peers, problems };
}

/** Claims the range and the addresses of a node; returns the reason, and claims no address, if it cannot. */
function claim(
  { name, ip, mac, podCIDR }: Peer,
  clusterCIDR: string,
  taken: Map<string, string>,
  ranges: Ranges,
): string | undefined {
  if (!contains(clusterCIDR, podCIDR))
    return `its pod range ${podCIDR} is not in cluster-cidr ${clusterCIDR}; delete the Node and let it join with a range that is`;
  const owner = taken.get(ip) ?? (mac === undefined ? undefined : taken.get(mac));
  if (owner !== undefined) return `node ${owner} already has its address ${ip} or its MAC address`;
  const clash = ranges.claim(podCIDR, name);
  if (clash)
    return `its pod range ${podCIDR} overlaps that of node ${clash.owner} (${clash.cidr}); delete the Node and let it join with another range`;
  taken.set(ip, name);
  if (mac !== undefined) taken.set(mac, name);
  return undefined;
}

/**
 * Returns undefined for a node that is not ready for packets, and a text with the reason for a ready node
 * that cannot be used.
 */
function readPeer(node: KubeObject): Peer | string | undefined {
  const { name, annotations = {} } = node.metadata;
  const six = { range6: announcedRange6(node), address6: announcedAddress6(node) };
  const mode = annotations[modeAnnotation];
  const range = annotations[podCIDRAnnotation];
  const address = annotations[nodeIPAnnotation];
  if (mode === undefined || range === undefined || address === undefined) return undefined;
  const podCIDR = rangeOf(range);
  if (podCIDR === undefined)
    return `its pods' range ${JSON.stringify(range)} is no IPv4 network of at least eight addresses; make the node again with one`;
  const ip = unicast(address);
  if (ip === undefined) return `its address ${JSON.stringify(address)} is not a unicast IPv4 address`;
  if (mode === 'host-routes') return { name, podCIDR, ip, mac: undefined, ...six };
  if (mode !== 'vxlan')
    return `its ${modeAnnotation} is ${JSON.stringify(mode)}; expected vxlan or host-routes`;
  const mac = annotations[macAnnotation];
  if (mac === undefined) return undefined;
  // The second digit of a unicast address is even.
  if (!/^[0-9a-f][02468ace](:[0-9a-f]{2}){5}$/.test(mac)) {
    return `its ${macAnnotation} is ${JSON.stringify(mac)}, expected a unicast MAC address such as 0a:58:0a:f4:01:00`;
  }
  return { name, podCIDR, ip, mac, ...six };
}

function olderFirst(a: KubeObject, b: KubeObject): number {
  const [first, second] = [a, b].map(({ metadata }) => `${metadata.creationTimestamp} ${metadata.name}`);
  return first === second ? 0 : (first ?? '') < (second ?? '') ? -1 : 1;
}

/**
 * Returns the range in the kernel's form; undefined without a range, or if it is not an IPv4 network of at
 * least eight addresses.
 */
function rangeOf(podCIDR: string | undefined): string | undefined {
  const range = podCIDR === undefined ? undefined : rangeAround(podCIDR);
  return range && range.prefix <= 29 ? formatRange(range) : undefined;
}

function unicast(text: string): string | undefined {
  const address = parseIPv4(text);
  if (address === undefined) return undefined;
  const first = Math.floor(address / 2 ** 24);
  return first === 0 || first === 127 || first >= 224 ? undefined : text;
}

export const networkOf = (cidr: string) => formatRange(requireRange(cidr));

const firstOf = (cidr: string) => addressAt(requireRange(cidr), 0);
