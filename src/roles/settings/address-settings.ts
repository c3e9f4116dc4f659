/** Settings of the addresses and names of a cluster. */
import { parseRange } from '../../base/addresses.ts';
import { define } from '../../settings/definition.ts';
import { domain } from '../../settings/domains.ts';
import { address, familyCidrs, oneOf } from '../../settings/readers.ts';
import { nameServers } from './name-servers.ts';
import { podRange } from './node-values.ts';

export const addressSettings = define({
  'service-cidr': {
    about: 'address range of Services; a second one, after a comma, is of IPv6',
    hint: 'RANGE,…',
    default: '10.96.0.0/16',
    read: familyCidrs(108, 124, 'fd00:10:96::/112'),
    subject: 'Addresses and names of the cluster',
    parts: ['control plane', 'node'],
    shared: true,
  },
  'cluster-cidr': {
    about: 'address range of pods; each node gets a /24, and a /64 of IPv6',
    hint: 'RANGE,…',
    default: '10.244.0.0/16',
    read: familyCidrs(48, 64, 'fd00:10:244::/56'),
    subject: 'Addresses and names of the cluster',
    parts: ['control plane', 'node'],
    shared: true,
  },
  'node-ports': {
    about: 'port range of NodePort Services',
    hint: 'FIRST-LAST',
    default: '30000-32767',
    read: nodePortRange,
    subject: 'Addresses and names of the cluster',
    parts: ['control plane'],
    shared: true,
  },
  'service-external-ip-ranges': {
    about: 'address ranges allowed in externalIPs of Services, comma-separated',
    hint: 'RANGE,…',
    usual: 'none: externalIPs are refused',
    read: ranges,
    subject: 'Addresses and names of the cluster',
    parts: ['control plane'],
    shared: true,
  },
  'cluster-dns': {
    about: 'address of cluster DNS',
    hint: 'ADDRESS',
    usual: 'the tenth address of --service-cidr',
    read: address,
    subject: 'Addresses and names of the cluster',
    parts: ['control plane', 'node'],
    shared: true,
  },
  'cluster-domain': {
    about: 'DNS domain of Services and pods',
    hint: 'DOMAIN',
    default: 'cluster.local',
    read: domain,
    subject: 'Addresses and names of the cluster',
    parts: ['control plane', 'node'],
    shared: true,
  },
  'dns-upstream': {
    about: 'name servers for names outside the cluster, comma-separated',
    hint: 'ADDRESS,…',
    usual: 'those of /etc/resolv.conf',
    read: nameServers,
    subject: 'Addresses and names of the cluster',
    parts: ['node'],
  },
  overlay: {
    about: 'route to pods of other nodes: vxlan, or host-routes if all nodes share a link',
    hint: 'vxlan|host-routes',
    default: 'vxlan',
    read: oneOf('vxlan', 'host-routes'),
    subject: 'Addresses and names of the cluster',
    parts: ['node'],
  },
  'pod-cidr': {
    about: "address range of this node's pods",
    hint: 'RANGE',
    usual: 'a /24 that the cluster assigns',
    read: podRange,
    subject: 'Addresses and names of the cluster',
    parts: ['join'],
  },
});

function nodePortRange(value: string): readonly [number, number] {
  const match = /^(\d+)-(\d+)$/.exec(value);
  const [first, last] = [Number(match?.[1]), Number(match?.[2])];
  if (!match || first < 1 || last > 65535 || first > last)
    throw new Error('expected ports such as 30000-32767');
  return [first, last];
}

function ranges(value: string): readonly string[] {
  const all = value.split(',').filter((part) => part !== '');
  if (all.length === 0 || !all.every(parseRange))
    throw new Error('expected IPv4 ranges by their first addresses, such as 203.0.113.0/24,198.51.100.7/32');
  return all;
}
