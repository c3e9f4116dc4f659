/** Checks of addresses, in the words of k8s.io/apimachinery util/validation. */
import { familyOf, rangeText } from '../base/address-families.ts';
import { addressKind, canonicalAddress, isAddress, isCIDR, isIPv4, limitsOfCIDR } from '../base/addresses.ts';

const notAnAddress = 'must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)';

export const checkIPAddress = (text: string) => (isAddress(text) ? [] : [notAnAddress]);
export const checkIPv4 = (text: string) => (isIPv4(text) ? [] : ['must be a valid IPv4 address']);
/** Checks IPv6; an IPv4-mapped IPv6 address does not count (Go's To4). */
export const checkIPv6 = (text: string) =>
  canonicalAddress(text)?.includes(':') ? [] : ['must be a valid IPv6 address'];

/** Checks a range such as `10.244.1.0/24`, or an IPv6 range. */
export const checkCIDR = (text: string) =>
  isCIDR(text) ? [] : ['must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)'];

const mapped = 'must not be an IPv4-mapped IPv6 address';
const inForm = (canonical: string) => `must be in canonical form (${JSON.stringify(canonical)})`;

/** Checks an address in the one spelling that newer fields allow: the canonical one. */
export function checkCanonicalAddress(text: string): string[] {
  if (!isAddress(text)) return [notAnAddress];
  if (familyOf(text) === undefined) return [mapped];
  const canonical = canonicalAddress(text) ?? text;
  return text === canonical ? [] : [inForm(canonical)];
}

/** Checks a range in its canonical spelling, which begins with the first address of the range. */
export function checkCanonicalCIDR(text: string): string[] {
  const [address = '', bits = ''] = text.split('/');
  const limits = limitsOfCIDR(text);
  if (!limits) return checkCIDR(text);
  if (familyOf(address) === undefined) return [mapped];
  const canonical = rangeText({ ...limits, prefix: Number(bits) });
  return text === canonical ? [] : [inForm(canonical)];
}

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
