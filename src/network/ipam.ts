/**
 * The addresses of one node's pods. Nothing is written down here: which addresses are taken is known from the
 * sandboxes that exist, each labelled with its own, so there is no second record that could disagree.
 * Addresses are handed out in turn, so that one that was just given back is the last to be used again.
 */
export class AddressPool {
  readonly #first: number;
  readonly #count: number;
  readonly #taken = new Set<number>();
  #next = 0;

  /** `cidr` such as `10.244.1.0/24`; its first two addresses and its last are never handed out. */
  constructor(cidr: string) {
    const { base, bits } = parseCidr(cidr);
    if (bits > 29) throw new Error(`pod network ${cidr}: too small; use /29 or larger`);
    this.#first = base + 2;
    this.#count = 2 ** (32 - bits) - 3;
  }

  allocate(): string {
    for (let tried = 0; tried < this.#count; tried++) {
      const address = this.#first + this.#next;
      this.#next = (this.#next + 1) % this.#count;
      if (this.#taken.has(address)) continue;
      this.#taken.add(address);
      return formatAddress(address);
    }
    throw new Error(`no address is left: all ${this.#count} of this node are taken`);
  }

  /** Takes a certain address; one outside the pool is of no concern to it. */
  adopt(ip: string): void {
    const address = parseAddress(ip);
    this.#taken.add(address);
    const offset = address - this.#first;
    if (offset >= this.#next && offset < this.#count) this.#next = (offset + 1) % this.#count;
  }

  release(ip: string): void {
    this.#taken.delete(parseAddress(ip));
  }

  get free(): number {
    return this.#count - this.#taken.size;
  }
}

/** The number an IPv4 address stands for; throws when it is none. */
export function parseAddress(ip: string): number {
  const parts = ip.split('.');
  const valid = parts.length === 4 && parts.every((part) => /^\d{1,3}$/.test(part) && Number(part) <= 255);
  if (!valid) throw new Error(`${JSON.stringify(ip)} is not an IPv4 address`);
  return parts.reduce((value, part) => value * 256 + Number(part), 0);
}

export function formatAddress(address: number): string {
  return [24, 16, 8, 0].map((shift) => Math.floor(address / 2 ** shift) % 256).join('.');
}

/** The network's first address and its prefix length; throws when the text is no IPv4 network. */
export function parseCidr(cidr: string): { readonly base: number; readonly bits: number } {
  const [ip = '', prefix = ''] = cidr.split('/');
  const bits = Number(prefix);
  if (!/^\d{1,2}$/.test(prefix) || bits > 32)
    throw new Error(`${JSON.stringify(cidr)} is not a network; write 10.244.0.0/24`);
  const size = 2 ** (32 - bits);
  return { base: Math.floor(parseAddress(ip) / size) * size, bits };
}
