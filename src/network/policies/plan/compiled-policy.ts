/**
 * A NetworkPolicy in the form that rules are made from: for each direction that it isolates, rules of peers
 * and ports. Equal peers of several policies have the same key, and share a set in the kernel. Pure.
 */

import type { NetworkPolicy } from '../../../api/networking/v1/network-policy.ts';
import type { NetworkPolicyPeer, NetworkPolicyPort } from '../../../api/networking/v1/types.gen.ts';
import {
  formatSelector,
  matches,
  type Selector,
  selectorFromLabelSelector,
} from '../../../apimachinery/labels.ts';
import { type PolicyPod, type Protocol, protocolOf } from './policy-pod.ts';

export type Direction = 'ingress' | 'egress';
export const directions: readonly Direction[] = ['ingress', 'egress'];

export type Peer =
  | {
      readonly kind: 'pods';
      readonly key: string;
      /** Set if the peer's pods are those of one namespace. */
      readonly namespace?: string;
      /** Selects the namespaces, if `namespace` is not set. */
      readonly namespaces?: Selector;
      readonly pods: Selector;
    }
  | {
      readonly kind: 'block';
      readonly key: string;
      readonly cidr: string;
      readonly except: readonly string[];
    };

export interface PortRange {
  readonly protocol: Protocol;
  readonly from: number;
  readonly to: number;
}

export interface NamedPort {
  readonly protocol: Protocol;
  readonly name: string;
}

export interface PolicyRule {
  /** Undefined: everything. */
  readonly peers: readonly Peer[] | undefined;
  /** Undefined: all ports of all protocols, and protocols without ports. */
  readonly ports: { readonly ranges: readonly PortRange[]; readonly named: readonly NamedPort[] } | undefined;
}

export interface CompiledPolicy {
  /** NAMESPACE/NAME */
  readonly key: string;
  readonly namespace: string;
  readonly selector: Selector;
  /** The rules of each direction; undefined for a direction that the policy does not isolate. */
  readonly rules: Readonly<Record<Direction, readonly PolicyRule[] | undefined>>;
}

export const maxPort = 65_535;

export function compilePolicy({ metadata, spec }: NetworkPolicy): CompiledPolicy {
  const { namespace = '', name } = metadata;
  const isolates = (type: string) => spec.policyTypes?.includes(type) ?? false;
  return {
    key: `${namespace}/${name}`,
    namespace,
    selector: selectorFromLabelSelector(spec.podSelector),
    rules: {
      ingress: isolates('Ingress')
        ? (spec.ingress ?? []).map(({ from, ports }) => ruleOf(namespace, from, ports))
        : undefined,
      egress: isolates('Egress')
        ? (spec.egress ?? []).map(({ to, ports }) => ruleOf(namespace, to, ports))
        : undefined,
    },
  };
}

/** Absent and empty lists mean the same: everything. */
const ruleOf = (
  namespace: string,
  peers: readonly NetworkPolicyPeer[] = [],
  ports: readonly NetworkPolicyPort[] = [],
): PolicyRule => ({
  peers: peers.length === 0 ? undefined : peers.map((peer) => peerOf(namespace, peer)),
  ports: ports.length === 0 ? undefined : portsOf(ports),
});

function peerOf(own: string, { ipBlock, podSelector, namespaceSelector }: NetworkPolicyPeer): Peer {
  if (ipBlock) {
    const { cidr, except = [] } = ipBlock;
    return { kind: 'block', key: `${cidr} except ${[...except].sort().join(' ')}`, cidr, except };
  }
  const pods = selectorFromLabelSelector(podSelector ?? {});
  const selected = formatSelector(pods);
  if (!namespaceSelector) return { kind: 'pods', key: `in ${own}: ${selected}`, namespace: own, pods };
  const namespaces = selectorFromLabelSelector(namespaceSelector);
  return { kind: 'pods', key: `of (${formatSelector(namespaces)}): ${selected}`, namespaces, pods };
}

function portsOf(ports: readonly NetworkPolicyPort[]): NonNullable<PolicyRule['ports']> {
  const ranges: PortRange[] = [];
  const named: NamedPort[] = [];
  for (const { protocol: given, port, endPort } of ports) {
    const protocol = protocolOf(given);
    if (port === undefined) ranges.push({ protocol, from: 0, to: maxPort });
    else if (typeof port === 'number') ranges.push({ protocol, from: port, to: endPort ?? port });
    else named.push({ protocol, name: port });
  }
  return { ranges, named };
}

/** Returns the port numbers that a pod has under a name. */
export const resolvePort = (
  { protocol, name }: NamedPort,
  pod: Pick<PolicyPod, 'ports'>,
): readonly number[] =>
  pod.ports.filter((port) => port.name === name && port.protocol === protocol).map(({ port }) => port);

export const selects = ({ namespace, selector }: CompiledPolicy, pod: PolicyPod): boolean =>
  namespace === pod.namespace && matches(selector, pod.labels);
