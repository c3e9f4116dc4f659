/** Arithmetic on IPv4 ranges. Pure. */
export interface Cidr {
  /** The first address, as a number. */
  readonly base: number;
  readonly prefix: number;
}

/** Undefined when the text is not an IPv4 range such as `10.244.0.0/16` with all host bits zero. */
export function parseCidr(text: string): Cidr | undefined {
  const found = /^(\d{1,3})\.(\d{1,3})\.(\d{1,3})\.(\d{1,3})\/(\d{1,2})$/.exec(text);
  if (!found) return undefined;
  const numbers = found.slice(1).map(Number);
  const prefix = numbers.pop() ?? 33;
  if (prefix > 32 || numbers.some((octet) => octet > 255)) return undefined;
  const base = numbers.reduce((sum, octet) => sum * 256 + octet, 0);
  return base % 2 ** (32 - prefix) === 0 ? { base, prefix } : undefined;
}

export function formatCidr({ base, prefix }: Cidr): string {
  const octets = [24, 16, 8, 0].map((shift) => Math.floor(base / 2 ** shift) % 256);
  return `${octets.join('.')}/${prefix}`;
}

export function overlaps(a: Cidr, b: Cidr): boolean {
  const size = 2 ** (32 - Math.min(a.prefix, b.prefix));
  return Math.floor(a.base / size) === Math.floor(b.base / size);
}

/** The lowest range of `prefix` bits inside `cluster` that overlaps none of `used`; undefined when all are taken. */
export function nextFreeCidr(cluster: Cidr, prefix: number, used: readonly Cidr[]): Cidr | undefined {
  const step = 2 ** (32 - prefix);
  const end = cluster.base + 2 ** (32 - cluster.prefix);
  const sorted = [...used].sort((a, b) => a.base - b.base);
  let base = cluster.base;
  for (const range of sorted) {
    if (range.base >= base + step) break;
    const after = range.base + 2 ** (32 - range.prefix);
    if (after > base) base = Math.ceil(after / step) * step;
  }
  return base + step <= end ? { base, prefix } : undefined;
}
