/** IPv4 networks as a base and a count of usable addresses (network and broadcast address left out). */
export interface AddressRange {
  /** The first usable address as a number. */
  readonly first: number;
  readonly size: number;
}

const toNumber = (ip: string) => ip.split('.').reduce((sum, part) => sum * 256 + Number(part), 0);

/** `10.96.0.0/16`; throws when it is no IPv4 network with usable addresses. */
export function parseRange(cidr: string): AddressRange {
  const match = /^(\d+\.\d+\.\d+\.\d+)\/(\d+)$/.exec(cidr);
  const bits = Number(match?.[2]);
  const base = toNumber(match?.[1] ?? '');
  if (!match || bits > 30 || Number.isNaN(base)) {
    throw new Error(`${JSON.stringify(cidr)} is not an IPv4 network: write one such as 10.96.0.0/16`);
  }
  const total = 2 ** (32 - bits);
  return { first: base - (base % total) + 1, size: total - 2 };
}

export function addressAt(range: AddressRange, position: number): string {
  const n = range.first + position;
  return [n / 2 ** 24, n / 2 ** 16, n / 2 ** 8, n].map((part) => Math.floor(part) % 256).join('.');
}

/** The position of an address in the range; undefined outside it. */
export function positionIn(range: AddressRange, ip: string): number | undefined {
  const position = toNumber(ip) - range.first;
  return position >= 0 && position < range.size ? position : undefined;
}
