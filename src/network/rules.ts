/** The pod network as text for nft(8) and ip(8): data to data. */

import { hexOfIPv4 } from '../base/addresses.ts';
import type { HostPort } from '../base/host-port.ts';

/** What this network's things are called on the machine; two networks on one machine need two sets. */
export interface NetworkNames {
  readonly table: string;
  readonly chain: string;
  /** All links of pods begin so, and rules match on it; at most 7 characters. */
  readonly linkPrefix: string;
  /** The link to other nodes; at most 15 characters. */
  readonly vxlanLink: string;
  /** The nft table that guards that link. */
  readonly vxlanTable: string;
  /** The protocol of our routes to other nodes: a number that is not in rt_protos. */
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

/** The group of the links of pods that only this machine itself connects to. */
export const closedGroup = 8070;

/** Pods reach the host under this address, which no link carries: the way out is a fixed neighbour. */
export const gateway = '169.254.1.1';
const gatewayMac = 'ee:ee:ee:ee:ee:ee';

/** The host's end of a pod's link: at most 15 characters, made of the address alone. */
export function linkName(ip: string, { linkPrefix }: NetworkNames = defaultNames): string {
  return `${linkPrefix}${hexOfIPv4(ip)}`;
}

export interface NetworkFacts {
  /** Of this node's pods. */
  readonly podCIDR: string;
  /** Of all pods: what goes there keeps its sender. */
  readonly clusterCIDR: string;
}

/**
 * One transaction that replaces our whole table. What goes to pods of other nodes from anywhere but a pod gets this
 * node's address on the link it leaves by: the answer then comes back the same way. That is after the service rules
 * have had their say, which have to wipe their mark. Ports are drawn at random, since two connections that look for a
 * free one at the same time would find the same (as kube-proxy and flannel do).
 *
 * A pod sends under its own address alone, and a pod's address comes in where the way to that pod leads. To a closed
 * pod nothing is forwarded but answers, and programs of this machine reach it by its own address, by no Service.
 */
export function renderTable(
  { podCIDR, clusterCIDR }: NetworkFacts,
  ports: readonly HostPort[],
  { table, linkPrefix }: NetworkNames = defaultNames,
): string {
  const sorted = ports.toSorted((a, b) => key(a).localeCompare(key(b)));
  return `add table ip ${table}
delete table ip ${table}
table ip ${table} {
  chain hostports {
${sorted.map((port) => `    ${matchHostPort(port)} dnat to ${port.podIP}:${port.containerPort}\n`).join('')}  }
  chain antispoof {
    type filter hook prerouting priority raw; policy accept;
    iifname "${linkPrefix}*" fib saddr . iif oif missing drop
    ip saddr ${clusterCIDR} fib saddr . iif oif missing drop
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
    ip saddr ${podCIDR} ip daddr != ${clusterCIDR} oifname != "${linkPrefix}*" masquerade fully-random
    ip saddr != ${clusterCIDR} ip daddr ${clusterCIDR} oifname != "${linkPrefix}*" masquerade fully-random
    ip saddr 127.0.0.0/8 oifname "${linkPrefix}*" masquerade
${sorted
  .map(({ podIP }) => podIP)
  .filter(first)
  .map((ip) => `    ip saddr ${ip} ip daddr ${ip} masquerade\n`)
  .join('')}  }
  chain input {
    type filter hook input priority filter; policy accept;
    iifname "${linkPrefix}*" ip daddr 127.0.0.0/8 ct state new drop
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

export const renderRemoval = ({ table }: NetworkNames = defaultNames) =>
  `add table ip ${table}\ndelete table ip ${table}\n`;

/**
 * For `ip -batch` on the host: makes the link with its far end already in the pod. Without an MTU it is the kernel's.
 */
export function renderHostLink(
  ip: string,
  pid: number,
  nodeIP: string | undefined,
  mtu: number | undefined,
  names: NetworkNames = defaultNames,
): string {
  const name = linkName(ip, names);
  const size = mtu === undefined ? '' : `mtu ${mtu} `;
  return `link add name ${name} address ${gatewayMac} ${size}type veth peer name eth0 ${size}netns ${pid}
link set dev ${name} up
route replace ${ip}/32 dev ${name} scope link${nodeIP === undefined ? '' : ` src ${nodeIP}`}
`;
}

/** For `ip -batch` on the host: nobody but this machine itself connects to the pod from now on. */
export const renderClosing = (ip: string, names: NetworkNames = defaultNames): string =>
  `link set dev ${linkName(ip, names)} group ${closedGroup}\n`;

/** For `ip -batch` in the pod's namespace. */
export function renderPodLink(ip: string): string {
  return `link set dev lo up
link set dev eth0 up
address add ${ip}/32 dev eth0
neighbour add ${gateway} lladdr ${gatewayMac} dev eth0 nud permanent
route add ${gateway}/32 dev eth0 scope link
route add default via ${gateway} dev eth0
`;
}

function matchHostPort({ protocol, hostIP, hostPort }: HostPort): string {
  const address = hostIP === '' ? '' : `ip daddr ${hostIP} `;
  return `${address}${protocol.toLowerCase()} dport ${hostPort}`;
}

const key = ({ protocol, hostIP, hostPort }: HostPort) =>
  `${protocol} ${String(hostPort).padStart(5, '0')} ${hostIP}`;

const first = <T>(value: T, index: number, all: readonly T[]) => all.indexOf(value) === index;
