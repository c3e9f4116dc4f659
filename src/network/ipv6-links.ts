/**
 * The IPv6 side of a pod's link, as text for ip(8). Both ends have permanent neighbours, so that no packet
 * waits for neighbour discovery or for the detection of duplicate addresses. Pure.
 */
import { addressAtOffset, offsetIn } from '../base/address-families.ts';
import { hexOfIPv4 } from '../base/addresses.ts';
import { defaultNames, gatewayMac, linkName, type NetworkNames } from './rules.ts';

/** Address under which pods reach the host. No link has it: pods have a permanent neighbour entry for it. */
const gateway = 'fe80::1';

/** Ranges of a node's pods. */
export interface PodRanges {
  readonly IPv4: string;
  readonly IPv6: string;
}

/**
 * Returns the IPv6 address of the pod with an IPv4 address, which has the same place in its range. So one
 * record of the used addresses is enough. Undefined for an address outside the range.
 */
export function secondAddress(ranges: PodRanges, ip: string): string | undefined {
  const offset = offsetIn(ranges.IPv4, ip);
  return offset === undefined ? undefined : addressAtOffset(ranges.IPv6, offset);
}

/** Returns the MAC address of a pod's end, which is that of the host's permanent neighbour. */
export const podMacOf = (ip: string): string => ['0a', '58', ...(hexOfIPv4(ip).match(/../g) ?? [])].join(':');

/**
 * Renders input for `ip -batch` on the host, after the link has been created. `source` is the address that
 * the pod sees of this machine. Without one the kernel would choose the most similar one, which is that of
 * the overlay's link.
 */
export function renderHostSide(
  ip: string,
  second: string,
  source: string | undefined,
  names: NetworkNames = defaultNames,
): string {
  const name = linkName(ip, names);
  return `neighbour replace ${second} lladdr ${podMacOf(ip)} dev ${name} nud permanent
route replace ${second}/128 dev ${name}${source === undefined ? '' : ` src ${source}`}
`;
}

/** Renders input for `ip -batch` in the pod's namespace, after the IPv4 side. */
export const renderPodSide = (second: string): string => `address add ${second}/128 dev eth0 nodad
neighbour add ${gateway} lladdr ${gatewayMac} dev eth0 nud permanent
route add default via ${gateway} dev eth0
`;

/**
 * Script for sh(1) in the pod's namespace: the engine switches IPv6 off where it has given a container no
 * address of its own.
 */
export const enableScript =
  'for conf in all default; do echo 0 > /proc/sys/net/ipv6/conf/$conf/disable_ipv6; done';
