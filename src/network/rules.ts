/** Renders the pod network as text for nft(8) and ip(8). Pure. */

import type { HostPort } from '../api/core/v1/pod/forwarded-port.ts';
import type { AddressFamily } from '../base/address-families.ts';
import { hexOfIPv4 } from '../base/addresses.ts';

/** Names of this network's parts on the machine; two networks on one machine need different sets. */
export interface NetworkNames {
  readonly table: string;
  readonly chain: string;
  /** Prefix of all links of pods, which rules match; at most 7 characters. */
  readonly linkPrefix: string;
  /** Name of the link to other nodes; at most 15 characters. */
  readonly vxlanLink: string;
  /** Name of the nft table that protects that link. */
  readonly vxlanTable: string;
  /** Protocol number of this network's routes to other nodes, which must not be listed in rt_protos. */
  readonly routeProtocol: number;
}

export const defaultNames: NetworkNames = {
  table: 'minik8s-network',
  chain: 'MINIK8S-FORWARD',
  linkPrefix: 'mk8s',
  vxlanLink: 'minik8s.vxlan',
  vxlanTable: 'minik8s-vxlan',
  routeProtocol: 107,
};

/** Group of the links of pods to which only this machine itself may connect. */
export const closedGroup = 8070;

/** Address under which pods reach the host. No link has it: pods have a permanent neighbour entry for it. */
export const gateway = '169.254.1.1';
/** MAC address of the host's end of each pod's link. */
export const gatewayMac = 'ee:ee:ee:ee:ee:ee';

/**
 * Returns the name of the host's end of a pod's link: at most 15 characters, derived from the address alone.
 */
export function linkName(ip: string, { linkPrefix }: NetworkNames = defaultNames): string {
  return `${linkPrefix}${hexOfIPv4(ip)}`;
}

/** Ranges of one family. */
export interface NetworkFacts {
  /** Range of this node's pods. */
  readonly podCIDR: string;
  /** Range of all pods: packets to it keep their source address. */
  readonly clusterCIDR: string;
}

/** Chains of the table that always have rules. */
export const fixedChains = [
  ...['antispoof', 'prerouting', 'output', 'postrouting', 'input', 'closed', 'closed-to-services'],
] as const;

/** Words of nft for the headers of a family. */
const headers = { IPv4: 'ip', IPv6: 'ip6' } as const satisfies Record<AddressFamily, string>;

/** Returns the table of a family, such as `ip minik8s-network`. */
export const tableOf = (family: AddressFamily, { table }: NetworkNames = defaultNames): string =>
  `${headers[family]} ${table}`;

/**
 * Renders one transaction that replaces the whole table of a family; `ports` have addresses of that family.
 * Packets to pods of other nodes that do not come from a pod get this node's address on the outgoing link as
 * source, so that the answer returns the same way. This rule runs after the service rules, which must clear
 * their mark. Source ports are drawn at random, since two connections that search for a free port at the same
 * time would find the same one (as kube-proxy and flannel do).
 *
 * A pod may send only from its own address, and packets from a pod's address are accepted only from the link
 * of that pod's route. To a closed pod only answers are forwarded; programs of this machine reach it by its
 * own address, not through a Service. A pod answers a connection to this machine's 127.0.0.1, but not to its
 * ::1, which no kernel sends to another link.
 */
export function renderTable(
  { podCIDR, clusterCIDR }: NetworkFacts,
  ports: readonly HostPort[],
  names: NetworkNames = defaultNames,
  family: AddressFamily = 'IPv4',
): string {
  const [table, ip, { linkPrefix }] = [tableOf(family, names), headers[family], names];
  const sorted = ports.toSorted((a, b) => key(a).localeCompare(key(b)));
  const ofIPv4 = (line: string) => (family === 'IPv4' ? `\n    ${line}` : '');
  return `add table ${table}
delete table ${table}
table ${table} {
  chain hostports {
${sorted.map((port) => `    ${matchHostPort(port, ip)} dnat to ${withPort(port)}\n`).join('')}  }
  chain antispoof {
    type filter hook prerouting priority raw; policy accept;
    iifname "${linkPrefix}*" fib saddr . iif oif missing drop
    ${ip} saddr ${clusterCIDR} fib saddr . iif oif missing drop
  }
  chain prerouting {
    type nat hook prerouting priority dstnat; policy accept;
    fib daddr type local jump hostports
  }
  chain output {
    type nat hook output priority -100; policy accept;
    fib daddr type local jump hostports
  }
  chain postrouting {
    type nat hook postrouting priority srcnat + 10; policy accept;
    ${ip} saddr ${podCIDR} ${ip} daddr != ${clusterCIDR} oifname != "${linkPrefix}*" masquerade fully-random
    ${ip} saddr != ${clusterCIDR} ${ip} daddr ${clusterCIDR} oifname != "${linkPrefix}*" masquerade fully-random${ofIPv4(`ip saddr 127.0.0.0/8 oifname "${linkPrefix}*" masquerade`)}
${sorted
  .map(({ podIP }) => podIP)
  .filter(first)
  .map((address) => `    ${ip} saddr ${address} ${ip} daddr ${address} masquerade\n`)
  .join('')}  }
  chain input {
    type filter hook input priority filter; policy accept;${ofIPv4(`iifname "${linkPrefix}*" ip daddr 127.0.0.0/8 ct state new drop`)}
  }
  chain closed {
    type filter hook forward priority filter; policy accept;
    oifname "${linkPrefix}*" oifgroup ${closedGroup} ct direction original drop
    oifname "${linkPrefix}*" oifgroup ${closedGroup} ct state invalid,untracked drop
  }
  chain closed-to-services {
    type filter hook postrouting priority filter; policy accept;
    oifname "${linkPrefix}*" oifgroup ${closedGroup} ct status dnat ct direction original drop
  }
}
`;
}

const withPort = ({ podIP, containerPort }: HostPort): string =>
  podIP.includes(':') ? `[${podIP}]:${containerPort}` : `${podIP}:${containerPort}`;

export const renderRemoval = ({ table }: NetworkNames = defaultNames) =>
  `add table ip ${table}\ndelete table ip ${table}\n`;

/**
 * Renders input for `ip -batch` on the host: creates the link with its far end in the pod. Without an MTU the
 * kernel's default is used, and without a MAC address of the pod one at random.
 */
export function renderHostLink(
  ip: string,
  pid: number,
  nodeIP: string | undefined,
  mtu: number | undefined,
  names: NetworkNames = defaultNames,
  podMac?: string,
): string {
  const name = linkName(ip, names);
  const size = mtu === undefined ? '' : `mtu ${mtu} `;
  const mac = podMac === undefined ? '' : `address ${podMac} `;
  return `link add name ${name} address ${gatewayMac} ${size}type veth peer name eth0 ${mac}${size}netns ${pid}
link set dev ${name} up
route replace ${ip}/32 dev ${name} scope link${nodeIP === undefined ? '' : ` src ${nodeIP}`}
`;
}

/** Renders input for `ip -batch` on the host: only this machine itself can connect to the pod from now on. */
export const renderClosing = (ip: string, names: NetworkNames = defaultNames): string =>
  `link set dev ${linkName(ip, names)} group ${closedGroup}\n`;

/** Renders input for `ip -batch` in the pod's namespace. */
export function renderPodLink(ip: string): string {
  return `link set dev lo up
link set dev eth0 up
address add ${ip}/32 dev eth0
neighbour add ${gateway} lladdr ${gatewayMac} dev eth0 nud permanent
route add ${gateway}/32 dev eth0 scope link
route add default via ${gateway} dev eth0
`;
}

function matchHostPort({ protocol, hostIP, hostPort }: HostPort, ip: 'ip' | 'ip6'): string {
  const address = hostIP === '' ? '' : `${ip} daddr ${hostIP} `;
  return `${address}${protocol.toLowerCase()} dport ${hostPort}`;
}

const key = ({ protocol, hostIP, hostPort }: HostPort) =>
  `${protocol} ${String(hostPort).padStart(5, '0')} ${hostIP}`;

const first = <T>(value: T, index: number, all: readonly T[]) => all.indexOf(value) === index;
