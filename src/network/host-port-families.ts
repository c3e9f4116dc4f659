/** Host ports by the family of the addresses at which they are forwarded. Pure. */
import type { HostPort } from '../api/core/v1/pod/forwarded-port.ts';
import { type PodRanges, secondAddress } from './ipv6-links.ts';

const isOfIPv6 = ({ hostIP }: HostPort): boolean => hostIP.includes(':');

/** Returns the ports that are forwarded over IPv4: those of all addresses and of IPv4 addresses. */
export const portsOfIPv4 = (ports: readonly HostPort[]): readonly HostPort[] =>
  ports.filter((port) => !isOfIPv6(port));

/**
 * Returns the ports that are forwarded over IPv6, those of all addresses and of IPv6 addresses, each with the
 * IPv6 address of its pod.
 */
export const portsOfIPv6 = (ports: readonly HostPort[], ranges: PodRanges): readonly HostPort[] =>
  ports.flatMap((port) => {
    const podIP = port.hostIP === '' || isOfIPv6(port) ? secondAddress(ranges, port.podIP) : undefined;
    return podIP === undefined ? [] : [{ ...port, podIP }];
  });
