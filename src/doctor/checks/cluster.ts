/** Checks of the cluster: its API server, its nodes, and whether the nodes reach one another. Pure. */
import { vxlanPort } from '../../network/overlay/render.ts';
import { type Finding, fault, findingsOf, note, type Observation, ok, warning } from '../finding.ts';
import type { NodeAnswer, PeerReach } from '../node-answer.ts';
import { deletionOf } from './firewall.ts';

export interface ClusterNodeFacts {
  readonly name: string;
  readonly address: string;
  readonly isReady: boolean;
  /** Message of the condition Ready. */
  readonly message: string;
  /** The answer of its agent, or the reason why there is none. */
  readonly answer: NodeAnswer | { readonly problem: string };
  /** Milliseconds by which its clock is ahead of this machine's. */
  readonly aheadMs?: number;
}

export interface ClusterFacts {
  /** Milliseconds by which the API server's clock is ahead of this machine's; accurate to a second. */
  readonly aheadMs?: number;
  readonly nodes: readonly ClusterNodeFacts[];
}

/** Offset of two clocks in milliseconds that the time of an answer may explain. */
const smallOffsetMs = 2_000;
/** Offset from which certificates and leases are at risk. */
const largeOffsetMs = 60_000;

/** Returns the findings about the cluster. Each names the node on which its command is to be run. */
export function clusterFindings(facts: ClusterFacts): readonly Finding[] {
  return [
    ...findingsOf(
      'api-server-clock',
      [{ name: 'clock-api-server', find: apiClock }],
      { value: facts },
      undefined,
    ),
    ...facts.nodes.flatMap((node) => nodeFindings(node)),
    ...facts.nodes.flatMap((node) => reachFindings(node, facts.nodes)),
  ];
}

function apiClock({ aheadMs }: ClusterFacts): readonly Observation[] {
  if (aheadMs === undefined) return [note('the API server does not send its time')];
  return [offsetOf("the API server's clock", aheadMs)];
}

function offsetOf(what: string, aheadMs: number): Observation {
  const seconds = (Math.abs(aheadMs) / 1000).toFixed(1);
  const found = `${what} is ${seconds} s ${aheadMs < 0 ? 'behind' : 'ahead of'} this machine's`;
  if (Math.abs(aheadMs) <= smallOffsetMs) return ok(found);
  const severe = Math.abs(aheadMs) > largeOffsetMs ? fault : warning;
  return severe(found, 'certificates and leases depend on the time', 'timedatectl set-ntp true');
}

function nodeFindings({
  name,
  isReady,
  message,
  answer,
  aheadMs,
  address,
}: ClusterNodeFacts): readonly Finding[] {
  const ready = isReady
    ? ok('the node is Ready')
    : fault(
        `the node is not Ready: ${message}`,
        'no pod is started there',
        `minik8s ctl describe node ${name}`,
      );
  const findings: Finding[] = [{ check: 'node-ready', node: name, ...ready }];
  if ('problem' in answer) {
    const found = `its agent at ${address} does not answer: ${answer.problem}`;
    const why = 'logs, exec and metrics of its pods need the agent';
    return [...findings, { check: 'node-agent', node: name, ...fault(found, why) }];
  }
  const offset = aheadMs === undefined ? [] : [offsetOf("the node's clock", aheadMs)];
  return [
    ...findings,
    ...offset.map((one) => ({ check: 'clock-node', node: name, ...one })),
    ...answer.findings.map((finding) => ({ ...finding, node: name })),
  ];
}

function reachFindings(node: ClusterNodeFacts, all: readonly ClusterNodeFacts[]): readonly Finding[] {
  if ('problem' in node.answer) return [];
  const { underlay } = node.answer;
  return node.answer.peers.map((peer) => {
    const other = all.find(({ name }) => name === peer.node);
    const otherAnswer = other && !('problem' in other.answer) ? other.answer : undefined;
    return reachOf({ node, peer, otherAnswer, underlay });
  });
}

interface Way {
  readonly node: ClusterNodeFacts;
  readonly peer: PeerReach;
  readonly otherAnswer: NodeAnswer | undefined;
  readonly underlay: NodeAnswer['underlay'];
}

/** Returns the finding about the way from a node to a peer. It names the node on which to run its command. */
function reachOf(way: Way): Finding {
  const { node, peer } = way;
  const { agent, overlay, large, address } = peer;
  const check = 'reachability';
  const name = `${node.name} to ${peer.node}`;
  if (agent.problem !== undefined) {
    const found = `${name}: ${address} does not answer (${agent.problem})`;
    const accept = `iptables -I INPUT --source ${node.address} --jump ACCEPT`;
    return { check, ...blocked(way, found, 'requests and packets of pods do not arrive', accept) };
  }
  if (overlay?.problem !== undefined) {
    const found = `${name}: no packet arrives through the overlay (${overlay.problem})`;
    const accept = `iptables -I INPUT --source ${node.address} --protocol udp --dport ${vxlanPort} --jump ACCEPT`;
    return { check, ...blocked(way, found, 'pods of the two nodes do not reach one another', accept) };
  }
  if (large?.problem !== undefined) return { check, ...tooLarge(way, large.bytes) };
  const through = overlay ? ', also through the overlay' : '';
  const size = large ? ` with ${large.bytes} bytes` : '';
  return { check, node: node.name, ...ok(`${name}: reached${through}${size}`) };
}

/**
 * Returns the fault of a way that is blocked. Its command deletes the rule that drops the packets or their
 * answers, on the node with the rule; if no rule is known, it makes the receiver accept the packets.
 */
function blocked({ node, peer, otherAnswer }: Way, found: string, why: string, accept: string) {
  const own = 'problem' in node.answer ? [] : node.answer.drops;
  const sending = own.find(({ rule }) => names(rule, peer.address));
  if (sending) return { node: node.name, ...fault(found, why, deletionOf(sending)) };
  const receiving = otherAnswer?.drops.find(({ rule }) => names(rule, node.address));
  return { node: peer.node, ...fault(found, why, receiving ? deletionOf(receiving) : accept) };
}

/** Returns true if a rule names the address, of the sender or of the receiver. */
const names = (rule: string, address: string): boolean =>
  new RegExp(`\\b[sd]addr (?:\\{[^}]*[ ,{])?${RegExp.escape(address)}(?![\\d.])`).test(rule);

function tooLarge({ node, peer, otherAnswer, underlay }: Way, bytes: number): Observation & { node: string } {
  const found = `${node.name} to ${peer.node}: packets of ${bytes} bytes do not arrive through the overlay, smaller ones do`;
  const why = 'connections of pods hang once they send large packets';
  const other = otherAnswer?.underlay;
  if (underlay && other && other.mtu < underlay.mtu)
    return {
      node: peer.node,
      ...fault(
        `${found}: ${other.name} of ${peer.node} has MTU ${other.mtu}, ${underlay.name} of ${node.name} ${underlay.mtu}`,
        why,
        `ip link set dev ${other.name} mtu ${underlay.mtu}`,
      ),
    };
  return { node: node.name, ...fault(found, why, `tracepath -n ${peer.address}`) };
}
