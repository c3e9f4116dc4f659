/**
 * The addresses of one node's pods. They are not stored: the labels of existing sandboxes contain the used
 * addresses, so there is no second record that could differ. Addresses are allocated in turn, so that a
 * released address is reused last.
 */
import { formatIPv4, requireIPv4, requireRange, sizeOf } from '../base/addresses.ts';

export class AddressPool {
  readonly #first: number;
  readonly #count: number;
  readonly #taken = new Set<number>();
  #next = 0;

  /**
   * Creates the pool of a range such as `10.244.1.0/24`; its first two addresses and its last are never
   * allocated.
   */
  constructor(cidr: string) {
    const range = requireRange(cidr);
    if (range.prefix > 29) throw new Error(`pod network ${cidr}: too small; use /29 or larger`);
    this.#first = range.first + 2;
    this.#count = sizeOf(range) - 3;
  }

  allocate(): string {
    for (let tried = 0; tried < this.#count; tried++) {
      const address = this.#first + this.#next;
      this.#next = (this.#next + 1) % this.#count;
      if (this.#taken.has(address)) continue;
      this.#taken.add(address);
      return formatIPv4(address);
    }
    throw new Error(`no address is left: all ${this.#count} of this node are taken`);
  }

  /** Marks an address as used; an address outside the pool is ignored. */
  adopt(ip: string): void {
    const address = requireIPv4(ip);
    this.#taken.add(address);
    const offset = address - this.#first;
    if (offset >= this.#next && offset < this.#count) this.#next = (offset + 1) % this.#count;
  }

  release(ip: string): void {
    this.#taken.delete(requireIPv4(ip));
  }

  get free(): number {
    return this.#count - this.#taken.size;
  }
}
