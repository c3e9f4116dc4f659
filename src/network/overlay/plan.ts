/**
 * Where packets for other nodes' pods go: from the metadata of Nodes to what the kernel should have. All that is read
 * of one but its creation time is written by that node itself, so nothing of it reaches the kernel unchecked. That the
 * range it names is the one it was given the API server has checked (apiserver/admission/node-restriction.ts).
 */
import {
  macAnnotation,
  modeAnnotation,
  nodeIPAnnotation,
  podCIDRAnnotation,
} from '../../api/core/v1/node-annotations.ts';
import type { KubeObject } from '../../apimachinery/meta.ts';
import {
  addressAt,
  formatRange,
  hexOfIPv4,
  parseIPv4,
  rangeAround,
  requireRange,
} from '../../base/addresses.ts';
import type { NetworkNames } from '../rules.ts';
import { contains, Ranges } from './ranges.ts';
import type { OverlayState, VxlanLink } from './state.ts';

/** `host-routes` sends packets as they are to nodes on the same link; `vxlan` wraps them and needs no such link. */
export type OverlayMode = 'vxlan' | 'host-routes';

/** What VXLAN puts around a packet of IPv4: an outer IP, UDP and VXLAN header and the inner Ethernet one. */
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
  /** This node's `spec.podCIDR`; undefined while it has none. */
  readonly podCIDR: string | undefined;
  readonly clusterCIDR: string;
  readonly mode: OverlayMode;
  /** Undefined while no link has the node's address. */
  readonly underlay: Underlay | undefined;
}

export interface OverlayPlan {
  readonly state: OverlayState;
  /** What this node's own Node should say, null for nothing; undefined when there is none or nobody to read it. */
  readonly annotations: Readonly<Record<string, string | null>> | undefined;
  /** One line for each node that cannot be reached, and why. */
  readonly problems: readonly string[];
}

const planAnnotations = [modeAnnotation, macAnnotation, podCIDRAnnotation, nodeIPAnnotation] as const;

/** The parts of a Node that the plan depends on, as a text; equal texts give equal plans. */
export function planKey({ metadata }: KubeObject): string {
  const { uid, creationTimestamp, annotations = {} } = metadata;
  return JSON.stringify([uid, creationTimestamp, planAnnotations.map((name) => annotations[name])]);
}

/** The MTU of pods' links: what fits through the underlay, wrapped or not. */
export const podMtu = (mode: OverlayMode, underlayMtu: number) =>
  mode === 'vxlan' ? underlayMtu - vxlanOverhead : underlayMtu;

/** The overlay's MAC of the node with that range: survives restarts, and no two nodes have the same. */
export function macOf(podCIDR: string): string {
  const hex = hexOfIPv4(firstOf(podCIDR));
  return ['0a', '58', ...(hex.match(/../g) ?? [])].join(':');
}

/**
 * With no other node there is nothing but the refusal of pod addresses that nobody has. When this node's own Node
 * is not there (taken out), or has no range yet, the kernel should have nothing at all.
 */
export function planOverlay(
  facts: OverlayFacts,
  nodes: readonly KubeObject[],
  { vxlanLink: linkName }: NetworkNames,
): OverlayPlan {
  const own = nodes.find(({ metadata }) => metadata.name === facts.nodeName);
  const podCIDR = own && rangeOf(facts.podCIDR);
  if (!podCIDR) return { state: noOverlay, annotations: undefined, problems: [] };
  // Pod addresses that lead nowhere are refused here: the default route would carry them out of the cluster.
  const routes = new Map([[networkOf(facts.clusterCIDR), unreachable]]);
  const others = nodes.filter(({ metadata }) => metadata.name !== facts.nodeName);
  if (others.length === 0 || !facts.underlay) {
    const problems = facts.underlay ? [] : [`no link of this machine has the node's address ${facts.nodeIP}`];
    return { state: bare(routes), annotations: undefined, problems };
  }
  const { underlay } = facts;
  const link = facts.mode === 'vxlan' ? vxlanLink(facts.nodeIP, underlay, podCIDR) : undefined;
  const { peers, problems } = peersOf(facts, podCIDR, others);
  const neighbours = new Map<string, string>();
  const forwarding = new Map<string, string>();
  const senders = new Set<string>();
  for (const peer of peers) {
    if (link && peer.mac !== undefined) {
      const address = firstOf(peer.podCIDR);
      routes.set(peer.podCIDR, `via ${address} dev ${linkName} onlink`);
      neighbours.set(address, peer.mac);
      forwarding.set(peer.mac, peer.ip);
      senders.add(peer.ip);
    } else if (contains(underlay.network, `${peer.ip}/32`)) {
      routes.set(peer.podCIDR, `via ${peer.ip} dev ${underlay.dev}`);
    } else {
      problems.push(
        `node ${peer.name} at ${peer.ip} is not on the link of this node (${underlay.network} on ${underlay.dev}), and one of the two has --overlay host-routes: give both --overlay vxlan`,
      );
    }
  }
  const annotations = {
    [modeAnnotation]: facts.mode,
    [macAnnotation]: link?.mac ?? null,
    [podCIDRAnnotation]: facts.podCIDR ?? null,
    [nodeIPAnnotation]: facts.nodeIP,
  };
  return { state: { vxlan: link, routes, neighbours, forwarding, senders }, annotations, problems };
}

/** Of what belongs to no node. */
const unreachable = 'unreachable';

/** How many networks of other nodes there are routes to. */
export const routesToNodes = ({ routes }: OverlayState): number =>
  [...routes.values()].filter((route) => route !== unreachable).length;

const bare = (routes: ReadonlyMap<string, string>): OverlayState => ({
  vxlan: undefined,
  routes,
  neighbours: new Map(),
  forwarding: new Map(),
  senders: new Set(),
});

/** The state of a machine that is not a node. */
export const noOverlay = bare(new Map());

function vxlanLink(local: string, { dev, mtu }: Underlay, podCIDR: string): VxlanLink {
  return { local, dev, mac: macOf(podCIDR), mtu: mtu - vxlanOverhead, address: firstOf(podCIDR) };
}

interface Peer {
  readonly name: string;
  readonly podCIDR: string;
  readonly ip: string;
  /** Undefined for a node that receives packets without VXLAN. */
  readonly mac: string | undefined;
}

/**
 * The nodes that have said that they are ready for packets. Where two want the same range, address or MAC the older
 * one has it: a node that joins takes nothing from those that are there.
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
    if (typeof peer === 'string') {
      problems.push(`node ${node.metadata.name}: ${peer}`);
      continue;
    }
    const { name, ip, mac } = peer;
    const owner = taken.get(ip) ?? (mac === undefined ? undefined : taken.get(mac));
    if (!contains(facts.clusterCIDR, peer.podCIDR)) {
      problems.push(
        `node ${name}: its pod range ${peer.podCIDR} is not in cluster-cidr ${facts.clusterCIDR}; delete the Node and let it join with a range that is`,
      );
      continue;
    }
    if (owner !== undefined) {
      problems.push(`node ${name}: node ${owner} already has its address ${ip} or its MAC address`);
      continue;
    }
    const clash = ranges.claim(peer.podCIDR, name);
    if (clash) {
      problems.push(
        `node ${name}: its pod range ${peer.podCIDR} overlaps that of node ${clash.owner} (${clash.cidr}); delete the Node and let it join with another range`,
      );
      continue;
    }
    taken.set(ip, name);
    if (mac !== undefined) taken.set(mac, name);
    peers.push(peer);
  }
  return { peers, problems };
}

/** Undefined for a node that is not ready for packets; a text when it is ready and cannot be used: the reason. */
function readPeer({ metadata }: KubeObject): Peer | string | undefined {
  const { name, annotations = {} } = metadata;
  const mode = annotations[modeAnnotation];
  const range = annotations[podCIDRAnnotation];
  const address = annotations[nodeIPAnnotation];
  if (mode === undefined || range === undefined || address === undefined) return undefined;
  const podCIDR = rangeOf(range);
  if (podCIDR === undefined)
    return `its pods' range ${JSON.stringify(range)} is no IPv4 network of at least eight addresses; make the node again with one`;
  const ip = unicast(address);
  if (ip === undefined) return `its address ${JSON.stringify(address)} is not a unicast IPv4 address`;
  if (mode === 'host-routes') return { name, podCIDR, ip, mac: undefined };
  if (mode !== 'vxlan')
    return `its ${modeAnnotation} is ${JSON.stringify(mode)}; expected vxlan or host-routes`;
  const mac = annotations[macAnnotation];
  if (mac === undefined) return undefined;
  // Unicast only: the second digit is even.
  if (!/^[0-9a-f][02468ace](:[0-9a-f]{2}){5}$/.test(mac)) {
    return `its ${macAnnotation} is ${JSON.stringify(mac)}, expected a unicast MAC address such as 0a:58:0a:f4:01:00`;
  }
  return { name, podCIDR, ip, mac };
}

function olderFirst(a: KubeObject, b: KubeObject): number {
  const [first, second] = [a, b].map(({ metadata }) => `${metadata.creationTimestamp} ${metadata.name}`);
  return first === second ? 0 : (first ?? '') < (second ?? '') ? -1 : 1;
}

/**
 * As the kernel writes it; undefined without a range, and for a range that is no IPv4 network of at least eight
 * addresses.
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
