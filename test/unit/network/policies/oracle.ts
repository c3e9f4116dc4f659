/** The meaning of network policies, written as naively as possible from the objects themselves. */
import type { Pod } from '../../../../src/api/core/v1/pod/pod.ts';
import type { NetworkPolicy } from '../../../../src/api/networking/v1/network-policy.ts';
import type { NetworkPolicyPeer, NetworkPolicyPort } from '../../../../src/api/networking/v1/types.gen.ts';
import type { Packet } from './table-reader.ts';

export interface Cluster {
  readonly policies: readonly NetworkPolicy[];
  readonly namespaces: Readonly<Record<string, Readonly<Record<string, string>>>>;
  readonly pods: readonly Pod[];
}

type LabelSelector = NetworkPolicy['spec']['podSelector'];

function isSelected(
  { matchLabels = {}, matchExpressions = [] }: LabelSelector,
  labels: Readonly<Record<string, string>>,
): boolean {
  return (
    Object.entries(matchLabels).every(([key, value]) => labels[key] === value) &&
    matchExpressions.every(({ key, operator, values = [] }) => {
      const has = labels[key] !== undefined;
      if (operator === 'In') return has && values.includes(labels[key] as string);
      if (operator === 'NotIn') return !has || !values.includes(labels[key] as string);
      return operator === 'Exists' ? has : !has;
    })
  );
}

const bitsOf = (ip: string): string =>
  ip.includes(':')
    ? expanded(ip)
        .map((group) => Number.parseInt(group, 16).toString(2).padStart(16, '0'))
        .join('')
    : ip
        .split('.')
        .map((octet) => Number(octet).toString(2).padStart(8, '0'))
        .join('');

function expanded(ip: string): string[] {
  const [left = '', right] = ip.split('::');
  const groups = (text: string) => (text === '' ? [] : text.split(':'));
  if (right === undefined) return groups(left);
  const missing = 8 - groups(left).length - groups(right).length;
  return [...groups(left), ...Array.from({ length: missing }, () => '0'), ...groups(right)];
}

function isWithin(cidr: string, ip: string): boolean {
  const [base = '', length] = cidr.split('/');
  if (base.includes(':') !== ip.includes(':')) return false;
  return bitsOf(ip).startsWith(bitsOf(base).slice(0, Number(length)));
}

export const ipsOf = ({ status }: Pod): readonly string[] =>
  (status?.podIPs ?? []).flatMap(({ ip }) => ip ?? []);

const podAt = ({ pods }: Cluster, ip: string) =>
  pods.find((pod) => !pod.spec.hostNetwork && ipsOf(pod).includes(ip));

function isPeer(cluster: Cluster, own: string, peer: NetworkPolicyPeer, ip: string): boolean {
  const { ipBlock, podSelector, namespaceSelector } = peer;
  if (ipBlock) {
    return isWithin(ipBlock.cidr, ip) && !(ipBlock.except ?? []).some((range) => isWithin(range, ip));
  }
  const pod = podAt(cluster, ip);
  if (!pod) return false;
  const { namespace = '', labels = {} } = pod.metadata;
  const isThere = namespaceSelector
    ? cluster.namespaces[namespace] !== undefined &&
      isSelected(namespaceSelector, cluster.namespaces[namespace])
    : namespace === own;
  return isThere && (!podSelector || isSelected(podSelector, labels));
}

function isPort(cluster: Cluster, { protocol, port, endPort }: NetworkPolicyPort, packet: Packet): boolean {
  if (protocol.toLowerCase() !== packet.protocol) return false;
  if (port === undefined) return true;
  if (typeof port === 'number') return port <= packet.port && packet.port <= (endPort ?? port);
  const target = podAt(cluster, packet.to);
  return (target?.spec.containers ?? []).some(({ ports = [] }) =>
    ports.some(
      (own) => own.name === port && (own.protocol ?? 'TCP') === protocol && own.containerPort === packet.port,
    ),
  );
}

function isAllowed(cluster: Cluster, packet: Packet, direction: 'Ingress' | 'Egress'): boolean {
  const [own, other] = direction === 'Ingress' ? [packet.to, packet.from] : [packet.from, packet.to];
  const pod = podAt(cluster, own);
  if (!pod) return true;
  const isolating = cluster.policies.filter(
    ({ metadata, spec }) =>
      metadata.namespace === pod.metadata.namespace &&
      spec.policyTypes?.includes(direction) &&
      isSelected(spec.podSelector, pod.metadata.labels ?? {}),
  );
  if (isolating.length === 0) return true;
  return isolating.some(({ metadata: { namespace = '' }, spec }) => {
    const rules =
      direction === 'Ingress'
        ? (spec.ingress ?? []).map(({ from, ports }) => ({ peers: from, ports }))
        : (spec.egress ?? []).map(({ to, ports }) => ({ peers: to, ports }));
    return rules.some(
      ({ peers = [], ports = [] }) =>
        (peers.length === 0 || peers.some((peer) => isPeer(cluster, namespace, peer, other))) &&
        (ports.length === 0 || ports.some((port) => isPort(cluster, port, packet))),
    );
  });
}

export const passes = (cluster: Cluster, packet: Packet): boolean =>
  packet.from === packet.to ||
  (isAllowed(cluster, packet, 'Egress') && isAllowed(cluster, packet, 'Ingress'));
