/** Checks of addresses, in the words of k8s.io/apimachinery util/validation. */
import { addressKind, canonicalAddress, isAddress, isCIDR, isIPv4 } from '../base/addresses.ts';

const notAnAddress = 'must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)';

export const checkIPAddress = (text: string) => (isAddress(text) ? [] : [notAnAddress]);
export const checkIPv4 = (text: string) => (isIPv4(text) ? [] : ['must be a valid IPv4 address']);
/** Checks IPv6; an IPv4-mapped IPv6 address does not count (Go's To4). */
export const checkIPv6 = (text: string) =>
  canonicalAddress(text)?.includes(':') ? [] : ['must be a valid IPv6 address'];

/** Checks a range such as `10.244.1.0/24`, or an IPv6 range. */
export const checkCIDR = (text: string) =>
  isCIDR(text) ? [] : ['must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)'];

/**
 * Rejects addresses that are only valid on one machine, or are not unicast: no endpoint or external address
 * may be one.
 */
export function checkNonSpecialIP(text: string): string[] {
  switch (addressKind(text)) {
    case undefined:
      return [notAnAddress];
    case 'unspecified':
      return [`may not be unspecified (${text})`];
    case 'loopback':
      return ['may not be in the loopback range (127.0.0.0/8, ::1/128)'];
    case 'link-local':
      return ['may not be in the link-local range (169.254.0.0/16, fe80::/10)'];
    case 'link-local multicast':
      return ['may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)'];
    default:
      return [];
  }
}

/**
 * Returns true for a unicast address that is valid beyond its link, including private addresses (Go's
 * IsGlobalUnicast).
 */
export const isGlobalUnicast = (address: string) => addressKind(address) === 'unicast';
