/** The answer of a node's agent to the doctor, and its parser. Pure. */
import type { DroppingRule } from './checks/firewall.ts';
import type { Link } from './checks/links.ts';
import { type Finding, severities } from './finding.ts';

/** Result of a try to reach a peer; absent if it was not made. */
export interface Reach {
  /** Reason why no answer came; absent if one came. */
  readonly problem?: string;
}

/** Results of the tries of a node to reach another node of the cluster. */
export interface PeerReach {
  readonly node: string;
  readonly address: string;
  /** TCP connection to the port of its agent. */
  readonly agent: Reach;
  /** TCP connection through the overlay, to the overlay's own address of the node. */
  readonly overlay?: Reach;
  /** Packet of the overlay's full size, which must not be cut into pieces. */
  readonly large?: Reach & { readonly bytes: number };
}

export interface NodeAnswer {
  /** Milliseconds since the epoch by the node's clock, just before the answer was sent. */
  readonly time: number;
  readonly findings: readonly Finding[];
  readonly peers: readonly PeerReach[];
  /** The link with the node's address; absent if there is none. */
  readonly underlay?: Link;
  /** Rules that drop packets on the node. */
  readonly drops: readonly DroppingRule[];
}

/** Maximum number of findings, peers and rules that are read of one node. */
const maxItems = 1000;

/**
 * Reads an answer, which may be of a node with another version: items of an unknown form are left out. Throws
 * an Error if it is no answer of an agent.
 */
export function parseNodeAnswer(text: string): NodeAnswer {
  const value: unknown = JSON.parse(text);
  if (!isRecord(value) || typeof value.time !== 'number') throw new Error('its answer has an unknown form');
  const { time, findings, peers, underlay, drops } = value;
  return {
    time,
    findings: listOf(findings).flatMap(findingIn),
    peers: listOf(peers).flatMap(peerIn),
    drops: listOf(drops).flatMap(dropIn),
    ...(isRecord(underlay) && linkIn(underlay)),
  };
}

type JsonRecord = Readonly<Record<string, unknown>>;

const isRecord = (value: unknown): value is JsonRecord =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const listOf = (value: unknown): readonly JsonRecord[] =>
  Array.isArray(value) ? value.filter(isRecord).slice(0, maxItems) : [];

/** Returns the text on one line, since it is shown on a terminal; undefined for other values. */
const textIn = (value: unknown) =>
  typeof value === 'string' ? value.replaceAll(/\p{Cc}/gu, ' ') : undefined;

function findingIn({ check, severity, found, why, mend }: JsonRecord): readonly Finding[] {
  const known = severities.find((one) => one === severity);
  const [name, text, reason, command] = [check, found, why, mend].map(textIn);
  if (known === undefined || name === undefined || text === undefined) return [];
  return [
    {
      ...{ check: name, severity: known, found: text },
      ...(reason !== undefined && { why: reason }),
      ...(command !== undefined && { mend: command }),
    },
  ];
}

function peerIn({ node, address, agent, overlay, large }: JsonRecord): readonly PeerReach[] {
  const [name, where] = [node, address].map(textIn);
  if (name === undefined || where === undefined || !isRecord(agent)) return [];
  const bytes = isRecord(large) && typeof large.bytes === 'number' ? large.bytes : undefined;
  return [
    {
      ...{ node: name, address: where, agent: reachIn(agent) },
      ...(isRecord(overlay) && { overlay: reachIn(overlay) }),
      ...(isRecord(large) && bytes !== undefined && { large: { bytes, ...reachIn(large) } }),
    },
  ];
}

function reachIn({ problem }: JsonRecord): Reach {
  const text = textIn(problem);
  return text === undefined ? {} : { problem: text };
}

function linkIn({ name, mtu }: JsonRecord): { readonly underlay?: Link } {
  const text = textIn(name);
  return text === undefined || typeof mtu !== 'number' ? {} : { underlay: { name: text, mtu } };
}

function dropIn({ table, chain, handle, rule }: JsonRecord): readonly DroppingRule[] {
  const [place, its, text] = [table, chain, rule].map(textIn);
  if (place === undefined || its === undefined || text === undefined || typeof handle !== 'number') return [];
  return [{ table: place, chain: its, handle, rule: text }];
}
