/**
 * IP addresses and IPv4 ranges; no other module parses, formats or compares them. An address has many
 * spellings (`::ffff:10.0.0.1` is 10.0.0.1, RFC 4291 §2.5.5.2), so comparing texts takes two spellings for
 * two addresses; Go's clients compare bytes. Texts are parsed strictly: no octal or hexadecimal numbers, no
 * short forms, no zone.
 */
import ipaddr from 'ipaddr.js';

/** Four decimal numbers without leading zeros. */
const dottedQuad = /^(0|[1-9]\d{0,2})(\.(0|[1-9]\d{0,2})){3}$/;

function read(text: string): ipaddr.IPv4 | ipaddr.IPv6 | undefined {
  return text.includes(':') ? readIPv6(text) : readIPv4(text);
}

const readIPv4 = (text: string) =>
  dottedQuad.test(text) ? parsed(() => ipaddr.IPv4.parse(text)) : undefined;

/**
 * Parses IPv6. An embedded IPv4 address is converted first: the library would accept octal numbers in it, and
 * read `::1.2.3.4` as `::ffff:1.2.3.4`.
 */
function readIPv6(text: string): ipaddr.IPv6 | undefined {
  const start = text.lastIndexOf(':') + 1;
  const tail = text.slice(start);
  const embedded = readIPv4(tail);
  if (text.includes('%') || (tail.includes('.') && !embedded)) return undefined;
  const { octets: [a = 0, b = 0, c = 0, d = 0] = [] } = embedded ?? {};
  const groups = [a * 256 + b, c * 256 + d].map((group) => group.toString(16));
  const whole = embedded ? text.slice(0, start) + groups.join(':') : text;
  return perhapsIPv6.test(whole) ? parsed(() => ipaddr.IPv6.parse(whole)) : undefined;
}

/**
 * Characters and length of IPv6 texts. A failed parse is far slower than a successful one, so most invalid
 * texts are rejected by this test.
 */
const perhapsIPv6 = /^[\da-f:]{2,39}$/i;

/**
 * Returns the parsed value or undefined. The library's own checks parse the text, too, and would double the
 * time.
 */
function parsed<T>(parse: () => T): T | undefined {
  try {
    return parse();
  } catch {
    return undefined;
  }
}

/** These functions judge the text, not its address: `::ffff:10.0.0.1` is IPv6. */
export const isIPv4 = (text: string) => read(text)?.kind() === 'ipv4';
export const isIPv6 = (text: string) => read(text)?.kind() === 'ipv6';
export const isAddress = (text: string) => read(text) !== undefined;

const written = (address: ipaddr.IPv4 | ipaddr.IPv6) =>
  address instanceof ipaddr.IPv6
    ? address.isIPv4MappedAddress()
      ? address.toIPv4Address().toString()
      : address.toRFC5952String()
    : address.toString();

/**
 * Returns the canonical text of an address: IPv4 for an IPv4-mapped IPv6 address, otherwise the form of RFC
 * 5952. Two addresses are the same if and only if their canonical texts are. Undefined for a text that is not
 * an address.
 */
export function canonicalAddress(text: string): string | undefined {
  const address = read(text);
  return address && written(address);
}

/**
 * Returns the canonical text for 4 or 16 bytes, as certificates hold addresses. Undefined for any other
 * length.
 */
export function addressOfBytes(bytes: Uint8Array): string | undefined {
  return bytes.length === 4 || bytes.length === 16 ? written(ipaddr.fromByteArray([...bytes])) : undefined;
}

/** Returns the 4 or 16 bytes of an address; undefined for a text that is not an address. */
export function bytesOfAddress(text: string): Uint8Array | undefined {
  const address = read(text);
  return address && Uint8Array.from(address.toByteArray());
}

/**
 * Returns the form of an address in names of objects, such as `192.0.2.7`. A name has no colons, and no dash
 * at its end, so `2001:db8::7` becomes `2001-db8-0-0-0-0-0-7`. Returns any other text as it is.
 */
export function dashedAddress(text: string): string {
  const bytes = bytesOfAddress(text);
  if (bytes?.length !== 16) return text;
  const groups = Array.from({ length: 8 }, (_, index) => bytes.slice(2 * index, 2 * index + 2));
  return groups.map(([high = 0, low = 0]) => (256 * high + low).toString(16)).join('-');
}

/** Returns true for two spellings of the same address; false if one of them is not an address. */
export function sameAddress(a: string, b: string): boolean {
  const address = canonicalAddress(a);
  return address !== undefined && address === canonicalAddress(b);
}

/**
 * Returns true if the URL's host is a name, or an address that is written as one. The URL standard also reads
 * `127.1`, `0x7f.1` and `010.1.1.1` as addresses; Go reads the last one as another address.
 */
export function hasPlainHost(url: string): boolean {
  if (!URL.canParse(url)) return false;
  const unbracketed = (host: string) => host.replace(/^\[(.*)\]$/, '$1');
  const [, written = ''] = /^[^/]*\/\/(?:[^/?#]*@)?(\[[^\]]*\]|[^/:?#]*)/.exec(url) ?? [];
  return !isAddress(unbracketed(new URL(url).hostname)) || isAddress(unbracketed(written));
}

/**
 * Returns the number of an IPv4 address; undefined for any other text, including IPv4-mapped IPv6 addresses.
 */
export function parseIPv4(text: string): number | undefined {
  const address = read(text);
  return address instanceof ipaddr.IPv4 ? numberOf(address) : undefined;
}

const numberOf = (address: ipaddr.IPv4) => address.octets.reduce((sum, octet) => sum * 256 + octet, 0);

export const formatIPv4 = (value: number): string =>
  [24, 16, 8, 0].map((shift) => Math.floor(value / 2 ** shift) % 256).join('.');

/** Returns eight hexadecimal digits. Throws a one-line Error when the text is not an IPv4 address. */
export const hexOfIPv4 = (text: string): string => requireIPv4(text).toString(16).padStart(8, '0');

/** Returns the number of an IPv4 address; throws a one-line Error for any other text. */
export function requireIPv4(text: string): number {
  const value = parseIPv4(text);
  if (value === undefined) throw new Error(`${JSON.stringify(text)} is not an IPv4 address`);
  return value;
}

/** The kind of an address, independent of its spelling. */
export type AddressKind =
  | 'unspecified'
  | 'loopback'
  | 'link-local'
  | 'link-local multicast'
  | 'multicast'
  | 'broadcast'
  | 'unicast';

/**
 * Returns the kind, as Go's net.IP.Is…: only 0.0.0.0 and :: are unspecified. Undefined for a text that is not
 * an address.
 */
export function addressKind(text: string): AddressKind | undefined {
  const canonical = canonicalAddress(text);
  if (canonical === undefined) return undefined;
  const value = parseIPv4(canonical);
  return value === undefined ? kindOfIPv6(ipaddr.IPv6.parse(canonical)) : kindOfIPv4(value);
}

function kindOfIPv4(value: number): AddressKind {
  if (value === 0) return 'unspecified';
  if (value === 2 ** 32 - 1) return 'broadcast';
  const [first, two] = [Math.floor(value / 2 ** 24), Math.floor(value / 2 ** 16)];
  if (first === 127) return 'loopback';
  if (two === 169 * 256 + 254) return 'link-local';
  if (Math.floor(value / 256) === 224 * 2 ** 16) return 'link-local multicast';
  return first >= 224 && first < 240 ? 'multicast' : 'unicast';
}

function kindOfIPv6({ parts }: ipaddr.IPv6): AddressKind {
  const [first = 0] = parts;
  const last = parts.at(-1) ?? 0;
  if (parts.slice(0, 7).every((part) => part === 0) && last <= 1) return last ? 'loopback' : 'unspecified';
  if ((first & 0xffc0) === 0xfe80) return 'link-local';
  if ((first & 0xff0f) === 0xff02) return 'link-local multicast';
  return (first & 0xff00) === 0xff00 ? 'multicast' : 'unicast';
}

/** The addresses from `first` on that share its first `prefix` bits. */
export interface IPv4Range {
  readonly first: number;
  readonly prefix: number;
}

/** Returns undefined unless the text is a range with its first address, such as `10.244.0.0/16`. */
export function parseRange(text: string): IPv4Range | undefined {
  const range = rangeAround(text);
  return range && formatRange(range) === text ? range : undefined;
}

/** Returns the range around an address with a prefix length: `10.244.1.7/24` is in 10.244.1.0/24. */
export function rangeAround(text: string): IPv4Range | undefined {
  const [address = '', bits = '', ...more] = text.split('/');
  const [value, prefix] = [parseIPv4(address), prefixLength(bits, 32)];
  if (value === undefined || prefix === undefined || more.length > 0) return undefined;
  return { first: value - (value % 2 ** (32 - prefix)), prefix };
}

/** Returns the range around an address; throws a one-line Error when the text is not a range. */
export function requireRange(text: string): IPv4Range {
  const range = rangeAround(text);
  if (!range)
    throw new Error(`${JSON.stringify(text)} is not an IPv4 range; write one such as 10.244.0.0/16`);
  return range;
}

/**
 * Parses an address of either family with a prefix length, ignoring the other bits. Parsing is the expensive
 * part.
 */
function readCIDR(text: string) {
  const [first = '', bits = '', ...more] = text.split('/');
  const address = read(first);
  const prefix = address && prefixLength(bits, address instanceof ipaddr.IPv4 ? 32 : 128);
  return prefix === undefined || more.length > 0 ? undefined : { address, prefix };
}

export const isCIDR = (text: string) => readCIDR(text) !== undefined;

/**
 * Result of a comparison: inside means that a range is of the same family, lies in the other range and is
 * smaller.
 */
export type Subrange = 'inside' | 'not inside' | 'no range';

/**
 * Returns a function that compares ranges with `outer`; each is parsed once. Undefined when `outer` is not a
 * range.
 */
export function strictSubrange(outer: string): ((inner: string) => Subrange) | undefined {
  const around = readCIDR(outer);
  if (!around) return undefined;
  const { address: a, prefix } = around;
  return (inner) => {
    const within = readCIDR(inner);
    if (!within) return 'no range';
    const { address: b } = within;
    const inside =
      a instanceof ipaddr.IPv4
        ? b instanceof ipaddr.IPv4 && b.match(a, prefix)
        : a !== undefined && b instanceof ipaddr.IPv6 && b.match(a, prefix);
    return inside && prefix < within.prefix ? 'inside' : 'not inside';
  };
}

function prefixLength(text: string, most: number): number | undefined {
  return /^(0|[1-9]\d{0,2})$/.test(text) && Number(text) <= most ? Number(text) : undefined;
}

export const formatRange = ({ first, prefix }: IPv4Range) => `${formatIPv4(first)}/${prefix}`;
export const sizeOf = ({ prefix }: Pick<IPv4Range, 'prefix'>) => 2 ** (32 - prefix);
export const lastOf = (range: IPv4Range) => range.first + sizeOf(range) - 1;

/** Returns the address at an offset from the first one. */
export const addressAt = ({ first }: IPv4Range, position: number) => formatIPv4(first + position);

/** Returns the offset of an address from the first one; undefined outside the range. */
export function positionIn(range: IPv4Range, address: string): number | undefined {
  const value = parseIPv4(canonicalAddress(address) ?? '');
  if (value === undefined || value < range.first || value > lastOf(range)) return undefined;
  return value - range.first;
}

export const hasAddress = (range: IPv4Range, address: string) => positionIn(range, address) !== undefined;
export const overlaps = (a: IPv4Range, b: IPv4Range) => a.first <= lastOf(b) && b.first <= lastOf(a);
export const containsRange = (outer: IPv4Range, inner: IPv4Range) =>
  outer.first <= inner.first && lastOf(inner) <= lastOf(outer);

/** Addresses of one family from the first to the last, as numbers. */
export interface AddressLimits {
  readonly family: 4 | 6;
  readonly first: bigint;
  readonly last: bigint;
}

/** Returns the limits of a range of either family; undefined for a text that is no range. */
export function limitsOfCIDR(text: string): AddressLimits | undefined {
  const range = readCIDR(text);
  if (range?.address === undefined) return undefined;
  const bytes = range.address.toByteArray();
  const value = bytes.reduce((sum, byte) => (sum << 8n) + BigInt(byte), 0n);
  const size = 1n << BigInt(bytes.length * 8 - range.prefix);
  const first = value - (value % size);
  return { family: bytes.length === 4 ? 4 : 6, first, last: first + size - 1n };
}

/** Returns the text of an address from its number; an IPv4 address in IPv6 keeps the form of IPv6. */
export function formatAddress(family: 4 | 6, value: bigint): string {
  const bytes = Array.from({ length: family === 4 ? 4 : 16 }, (_, index, size = family === 4 ? 4 : 16) =>
    Number((value >> BigInt(8 * (size - 1 - index))) & 0xffn),
  );
  return family === 4 ? bytes.join('.') : new ipaddr.IPv6(bytes).toString();
}
