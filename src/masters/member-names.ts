/** Names and addresses of members. */
import { isAddress, isIPv6 } from '../base/addresses.ts';

/** Returns whether a value is a name that a master may have: a host name in small letters. */
export const isMasterName = (value: unknown): value is string =>
  typeof value === 'string' && /^[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?$/.test(value);

/** Returns whether a value is a URL such as `https://192.0.2.10:2380`, with an address. */
export function isPeerUrl(value: unknown): value is string {
  if (typeof value !== 'string' || !/^https:\/\/[^/?#@,=\s]+:\d{1,5}$/.test(value)) return false;
  return URL.canParse(value) && isAddress(new URL(value).hostname.replace(/^\[|\]$/g, ''));
}

export const peerUrlOf = (address: string, port: number): string =>
  `https://${isIPv6(address) ? `[${address}]` : address}:${port}`;
