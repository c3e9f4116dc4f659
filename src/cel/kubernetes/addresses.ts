/** Kubernetes' CEL functions for IP addresses and CIDRs. */
import { addressKind, addressOfBytes, bytesOfAddress } from '../../base/addresses.ts';
import { argument, fixed, perCharacter, sizeOf, traversal } from '../cost/costs.ts';
import { one, plus, scaled } from '../cost/ranges.ts';
import type { Cost, Declaration } from '../functions/overload.ts';
import { Fault, noSuchOverload, Opaque, type Result, type Value } from '../values/value.ts';

class IpAddress extends Opaque {
  readonly typeName = 'net.IP';
  readonly bytes: Uint8Array;
  override readonly size: number;
  constructor(bytes: Uint8Array) {
    super();
    this.bytes = bytes;
    this.size = bytes.length;
  }
  get text(): string {
    return addressOfBytes(this.bytes) ?? '';
  }
  equals(other: Opaque): boolean {
    return other instanceof IpAddress && other.text === this.text;
  }
}

class Cidr extends Opaque {
  readonly typeName = 'net.CIDR';
  readonly address: IpAddress;
  readonly prefix: number;
  override readonly size: number;
  constructor(address: IpAddress, prefix: number) {
    super();
    this.address = address;
    this.prefix = prefix;
    this.size = Math.ceil(prefix / 8);
  }
  get text(): string {
    return `${this.address.text}/${this.prefix}`;
  }
  equals(other: Opaque): boolean {
    return other instanceof Cidr && other.text === this.text;
  }
  masked(): Cidr {
    const bytes = this.address.bytes.map((byte, at) => byte & maskOf(this.prefix - at * 8));
    return new Cidr(new IpAddress(bytes), this.prefix);
  }
  contains(other: IpAddress): boolean {
    const { bytes } = this.address;
    const same = (byte: number, at: number) =>
      ((byte ^ (other.bytes[at] ?? 0)) & maskOf(this.prefix - at * 8)) === 0;
    return bytes.length === other.bytes.length && bytes.every(same);
  }
}

/** Returns a byte whose first `bits` bits are set; `bits` may be below 0 or above 8. */
function maskOf(bits: number): number {
  return 0xff & (0xff << (8 - Math.min(Math.max(bits, 0), 8)));
}

/** Maximum length of an address or a CIDR in characters; longer texts are invalid. */
const maxLength = 64;

function isMapped(bytes: Uint8Array): boolean {
  const start = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff];
  return bytes.length === 16 && start.every((byte, at) => bytes[at] === byte);
}

function parseIp(text: string): IpAddress | Fault {
  const quoted = JSON.stringify(text.slice(0, maxLength));
  const [plain = '', zone] = text.length > maxLength ? [] : text.split('%');
  const bytes = bytesOfAddress(plain);
  if (bytes === undefined || (zone !== undefined && bytes.length === 4))
    return new Fault(
      `IP Address ${quoted} parse error during conversion from string: ParseAddr(${quoted}): unable to parse IP`,
    );
  if (zone !== undefined) return new Fault(`IP address ${quoted} with zone value is not allowed`);
  if (isMapped(bytes)) return new Fault(`IPv4-mapped IPv6 address ${quoted} is not allowed`);
  return new IpAddress(bytes);
}

function parseCidr(text: string): Cidr | Fault {
  const quoted = JSON.stringify(text.slice(0, maxLength));
  const [address = '', bits = '', more] = text.length > maxLength ? [] : text.split('/');
  const bytes = bytesOfAddress(address);
  const prefix = /^(0|[1-9]\d{0,2})$/.test(bits) ? Number(bits) : Number.NaN;
  if (bytes === undefined || more !== undefined || !(prefix <= bytes.length * 8)) {
    const words = 'network address parse error during conversion from string';
    return new Fault(`${words}: ${words}: netip.ParsePrefix(${quoted}): ${cidrFault(text)}`);
  }
  if (isMapped(bytes)) {
    const words = 'network address parse error during conversion from string';
    return new Fault(`${words}: IPv4-mapped IPv6 address ${quoted} is not allowed`);
  }
  return new Cidr(new IpAddress(bytes), prefix);
}

function cidrFault(text: string): string {
  return text.includes('/') ? 'invalid address or prefix length' : "no '/'";
}

type Apply = Declaration[1];

function fromText(work: (text: string) => Result): Apply {
  return ([text], run) => {
    run.work(64);
    return typeof text === 'string' ? work(text) : noSuchOverload;
  };
}

function ofIp(work: (address: IpAddress) => Result): Apply {
  return ([address]) => (address instanceof IpAddress ? work(address) : noSuchOverload);
}

function ofCidr(work: (cidr: Cidr, other: Value) => Result): Apply {
  return ([cidr, other = null]) => (cidr instanceof Cidr ? work(cidr, other) : noSuchOverload);
}

function hasKind(...kinds: readonly (string | undefined)[]): Apply {
  return ofIp(({ text }) => kinds.includes(addressKind(text)));
}

const containsIp = ofCidr((cidr, other) => {
  const address = typeof other === 'string' ? parseIp(other) : other;
  if (address instanceof Fault) return address;
  return address instanceof IpAddress ? cidr.contains(address) : noSuchOverload;
});

const containsCidr = ofCidr((cidr, other) => {
  const inner = typeof other === 'string' ? parseCidr(other) : other;
  if (inner instanceof Fault) return inner;
  if (!(inner instanceof Cidr)) return noSuchOverload;
  return cidr.prefix <= inner.prefix && cidr.contains(inner.address);
});

/** Cost of comparing the CIDR's bytes, and of parsing the argument first if it is a string. */
function containing(isText: boolean, isCidr: boolean): Cost {
  const text = isText ? perCharacter : 0;
  return {
    actual: ([cidr, other]) => {
      const size = sizeOf(cidr);
      const masked = isCidr ? Math.ceil(size * perCharacter) + 1 : 0;
      return Math.ceil(2 * size * perCharacter) + masked + Math.ceil(sizeOf(other) * text);
    },
    estimate: (args) => {
      const masked = isCidr ? [scaled({ min: 4, max: 16 }, perCharacter), one] : [];
      const parsed = scaled(argument(args, 1).size, text);
      return { cost: plus(scaled({ min: 8, max: 32 }, perCharacter), ...masked, parsed) };
    },
  };
}

const reading = traversal(0);

export const addresses: readonly Declaration[] = [
  ['ip(string): net.IP', fromText(parseIp), reading],
  ['isIP(string): bool', fromText((text) => !(parseIp(text) instanceof Fault)), reading],
  ['ip.isCanonical(string): bool', fromText(isCanonical), traversal(0, { factor: 2 })],
  ['net.IP.family(): int', ofIp(({ bytes }) => (bytes.length === 4 ? 4n : 6n))],
  ['net.IP.isUnspecified(): bool', hasKind('unspecified')],
  ['net.IP.isLoopback(): bool', hasKind('loopback')],
  ['net.IP.isLinkLocalMulticast(): bool', hasKind('link-local multicast')],
  ['net.IP.isLinkLocalUnicast(): bool', hasKind('link-local')],
  ['net.IP.isGlobalUnicast(): bool', hasKind('unicast')],
  ['string(net.IP): string', ofIp(({ text }) => text)],
  ['cidr(string): net.CIDR', fromText(parseCidr), reading],
  ['isCIDR(string): bool', fromText((text) => !(parseCidr(text) instanceof Fault)), reading],
  ['net.CIDR.containsIP(string): bool', containsIp, containing(true, false)],
  ['net.CIDR.containsIP(net.IP): bool', containsIp, containing(false, false)],
  ['net.CIDR.containsCIDR(string): bool', containsCidr, containing(true, true)],
  ['net.CIDR.containsCIDR(net.CIDR): bool', containsCidr, containing(false, true)],
  ['net.CIDR.ip(): net.IP', ofCidr(({ address }) => address), fixed(1)],
  ['net.CIDR.prefixLength(): int', ofCidr(({ prefix }) => BigInt(prefix))],
  ['net.CIDR.masked(): net.CIDR', ofCidr((cidr) => cidr.masked())],
  ['string(net.CIDR): string', ofCidr(({ text }) => text)],
];

function isCanonical(text: string): Result {
  const address = parseIp(text);
  return address instanceof Fault ? address : address.text === text;
}
