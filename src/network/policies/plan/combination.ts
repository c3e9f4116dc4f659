/**
 * The rules for pods that the same policies select: one lookup by port, one by peer. Their number does not
 * depend on the number of policies. Pure.
 */
import {
  type CompiledPolicy,
  type Direction,
  type Peer,
  type PolicyRule,
  resolvePort,
} from './compiled-policy.ts';
import type { PolicyPod, Protocol } from './policy-pod.ts';
import { type AllowedPorts, portSegments, type Segment } from './port-segments.ts';

/** Peers that may be reached at a port by its name, for which each of their pods has a number of its own. */
export interface NamedPeers {
  readonly protocol: Protocol;
  readonly name: string;
  readonly peers: readonly string[];
}

export interface Combination {
  readonly direction: Direction;
  readonly segments: Readonly<Record<Protocol, readonly Segment[]>>;
  /** Peers that may use every port and protocol; undefined: everything is allowed. */
  readonly anyPort: readonly string[] | undefined;
  /** Only for egress: for ingress, names are ports of the selected pod. */
  readonly named: readonly NamedPeers[];
  /** Keys of the policies. */
  readonly policies: readonly string[];
}

export const protocols: readonly Protocol[] = ['tcp', 'udp', 'sctp'];

const keysOf = (peers: readonly Peer[] | undefined) => peers?.map(({ key }) => key);

/** Combines policies that select the pod and isolate the direction. */
export function combine(
  direction: Direction,
  policies: readonly CompiledPolicy[],
  pod: Pick<PolicyPod, 'ports'>,
): Combination {
  const rules = policies.flatMap((policy) => policy.rules[direction] ?? []);
  const whole = rules.filter(({ ports }) => ports === undefined);
  const anyPort = whole.some(({ peers }) => peers === undefined)
    ? undefined
    : [...new Set(whole.flatMap(({ peers }) => keysOf(peers) ?? []))].sort();
  const allowed = rules.flatMap((rule) => allowedBy(rule, direction, pod));
  const of = (protocol: Protocol) => portSegments(allowed.filter((entry) => entry.protocol === protocol));
  return {
    direction,
    segments: { tcp: of('tcp'), udp: of('udp'), sctp: of('sctp') },
    anyPort,
    named: direction === 'egress' ? rules.flatMap(namedPeers) : [],
    policies: policies.map(({ key }) => key),
  };
}

function allowedBy(
  { peers, ports }: PolicyRule,
  direction: Direction,
  pod: Pick<PolicyPod, 'ports'>,
): readonly (AllowedPorts & { readonly protocol: Protocol })[] {
  const keys = keysOf(peers);
  const named = direction === 'ingress' ? (ports?.named ?? []) : [];
  const resolved = named.flatMap((port) =>
    resolvePort(port, pod).map((number) => ({ protocol: port.protocol, from: number, to: number })),
  );
  return [...(ports?.ranges ?? []), ...resolved].map((range) => ({ ...range, peers: keys }));
}

/** The key under which the index has all pods, for a rule without peers. */
export const everyPod: Peer = {
  kind: 'pods',
  key: 'every pod',
  pods: { requirements: [] },
};

function namedPeers({ peers, ports }: PolicyRule): readonly NamedPeers[] {
  return (ports?.named ?? []).map((port) => ({ ...port, peers: keysOf(peers) ?? [everyPod.key] }));
}

/**
 * Returns a text that differs for pods of the same policies if their combinations do: the numbers of the
 * ports that the policies name.
 */
export function namesSignature(policies: readonly CompiledPolicy[], pod: Pick<PolicyPod, 'ports'>): string {
  const names = policies.flatMap(({ rules }) =>
    (rules.ingress ?? []).flatMap(({ ports }) => ports?.named ?? []),
  );
  if (names.length === 0) return '';
  return names.map((port) => `${port.protocol} ${port.name} ${resolvePort(port, pod).join()}`).join(';');
}
