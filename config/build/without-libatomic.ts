/**
 * Removes the dependency on libatomic.so.1 from Node's binary, since a fresh Debian or Ubuntu lacks that
 * library (docs/decisions/0081-no-libatomic.md). The dynamic linker loads the libraries of an ELF file before
 * any code of it runs, so the file itself is edited: the one used function is written behind its code, and
 * the relocations of that function become addresses of the copy. Pure; layouts are those of the System V ABI
 * (gABI 4.1, x86-64 psABI 1.0, AArch64 ELF 2023Q3).
 */

const library = 'libatomic.so.1';
/** The function that compare-exchange.c replaces. */
const replaced = '__atomic_compare_exchange';

const segmentType = { load: 1, dynamic: 2 };
const executable = 1;
const tag = {
  needed: 1,
  pltRelocationsSize: 2,
  strings: 5,
  symbols: 6,
  relocations: 7,
  relocationsSize: 8,
  pltRelocations: 23,
  bindNow: 24,
  flags: 30,
  flags1: 0x6ffffffb,
  symbolVersions: 0x6ffffff0,
  versionNeeds: 0x6ffffffe,
  versionNeedsCount: 0x6fffffff,
};
/** Types of a relocation that is an address of the program itself, by the number of the processor. */
const relativeRelocations: ReadonlyMap<number, bigint> = new Map([
  [0x3e, 8n],
  [0xb7, 1027n],
]);
const relocationSize = 24;
const symbolSize = 24;
const globalVersion = 1;

interface Segment {
  /** File offset of the program header itself. */
  readonly header: number;
  readonly type: number;
  readonly flags: number;
  readonly offset: number;
  readonly address: number;
  readonly size: number;
  readonly memorySize: number;
}

/**
 * Returns a copy of `program` without the dependency on libatomic, or `program` itself if it has none. `code`
 * is the machine code of the function that replaces __atomic_compare_exchange; it must not depend on its
 * address. Throws if the program needs another function of libatomic, binds its functions lazily, or has no
 * room for the code.
 */
export function withoutLibatomic(program: Buffer, code: Uint8Array): Buffer {
  const elf = new Elf(Buffer.from(program));
  if (!elf.dynamic(tag.needed).some((name) => elf.string(name) === library)) return program;
  if (!elf.bindsNow()) throw new Error('Node binds functions lazily: a relocation cannot name an address');
  const versions = elf.removeVersionNeeds();
  const address = elf.append(code);
  for (const { at, symbol } of elf.relocations()) {
    if (!versions.has(elf.versionOf(symbol))) continue;
    const name = elf.nameOf(symbol);
    if (name !== replaced)
      throw new Error(`Node needs ${name} of ${library}; config/build/compare-exchange.c lacks it`);
    elf.bytes.writeBigUInt64LE(elf.relativeRelocation(), at + 8);
    elf.bytes.writeBigUInt64LE(BigInt(address), at + 16);
    elf.setVersion(symbol, globalVersion);
  }
  elf.removeNeeded();
  return elf.bytes;
}

/** A 64-bit little-endian ELF file, read by its program headers, as the dynamic linker does. */
class Elf {
  readonly bytes: Buffer;
  readonly #segments: readonly Segment[];

  constructor(bytes: Buffer) {
    this.bytes = bytes;
    if (bytes.toString('latin1', 0, 6) !== '\x7fELF\x02\x01')
      throw new Error('Node is no 64-bit ELF program');
    const [first, size, count] = [this.#number(0x20), bytes.readUInt16LE(0x36), bytes.readUInt16LE(0x38)];
    this.#segments = Array.from({ length: count }, (_, index) => this.#segment(first + index * size));
  }

  relativeRelocation(): bigint {
    const machine = this.bytes.readUInt16LE(0x12);
    const type = relativeRelocations.get(machine);
    if (type === undefined)
      throw new Error(`Node is for processor 0x${machine.toString(16)}, which is unknown`);
    return type;
  }

  #number(offset: number): number {
    return Number(this.bytes.readBigUInt64LE(offset));
  }

  #segment(header: number): Segment {
    return {
      header,
      type: this.bytes.readUInt32LE(header),
      flags: this.bytes.readUInt32LE(header + 4),
      offset: this.#number(header + 8),
      address: this.#number(header + 16),
      size: this.#number(header + 32),
      memorySize: this.#number(header + 40),
    };
  }

  #offsetOf(address: number): number {
    const segment = this.#segments.find(
      (each) =>
        each.type === segmentType.load && address >= each.address && address < each.address + each.size,
    );
    if (segment === undefined) throw new Error(`Node has nothing at address 0x${address.toString(16)}`);
    return segment.offset + address - segment.address;
  }

  *#dynamicEntries(): Generator<{ at: number; type: number; value: number }> {
    const segment = this.#segments.find(({ type }) => type === segmentType.dynamic);
    if (segment === undefined) throw new Error('Node is linked statically');
    for (let at = segment.offset; at < segment.offset + segment.size; at += 16) {
      yield { at, type: this.#number(at), value: this.#number(at + 8) };
    }
  }

  /** Values of a tag of the dynamic section. */
  dynamic(wanted: number): number[] {
    return [...this.#dynamicEntries()].filter(({ type }) => type === wanted).map(({ value }) => value);
  }

  #one(wanted: number): number {
    const [value] = this.dynamic(wanted);
    if (value === undefined) throw new Error(`Node's dynamic section lacks tag 0x${wanted.toString(16)}`);
    return value;
  }

  #table(wanted: number): number {
    return this.#offsetOf(this.#one(wanted));
  }

  string(index: number): string {
    const start = this.#table(tag.strings) + index;
    return this.bytes.toString('latin1', start, this.bytes.indexOf(0, start));
  }

  /**
   * Returns true if every function is bound when the program starts: the linker then reads PLT relocations
   * like any others.
   */
  bindsNow(): boolean {
    const has = (which: number, bit: number) => this.dynamic(which).some((value) => (value & bit) !== 0);
    return this.dynamic(tag.bindNow).length > 0 || has(tag.flags, 8) || has(tag.flags1, 1);
  }

  *relocations(): Generator<{ at: number; symbol: number }> {
    const tables = [
      [tag.relocations, tag.relocationsSize],
      [tag.pltRelocations, tag.pltRelocationsSize],
    ] as const;
    for (const [table, size] of tables) {
      if (this.dynamic(table).length === 0) continue;
      const [start, end] = [this.#table(table), this.#table(table) + this.#one(size)];
      for (let at = start; at < end; at += relocationSize)
        yield { at, symbol: this.bytes.readUInt32LE(at + 12) };
    }
  }

  nameOf(symbol: number): string {
    return this.string(this.bytes.readUInt32LE(this.#table(tag.symbols) + symbol * symbolSize));
  }

  versionOf(symbol: number): number {
    return this.bytes.readUInt16LE(this.#table(tag.symbolVersions) + symbol * 2);
  }

  setVersion(symbol: number, version: number): void {
    this.bytes.writeUInt16LE(version, this.#table(tag.symbolVersions) + symbol * 2);
  }

  /** Removes the required versions of the library, and returns the indices by which symbols named them. */
  removeVersionNeeds(): ReadonlySet<number> {
    let at = this.#table(tag.versionNeeds);
    let previous: number | undefined;
    while (this.string(this.bytes.readUInt32LE(at + 4)) !== library) {
      const next = this.bytes.readUInt32LE(at + 12);
      if (next === 0) throw new Error(`Node needs no version of ${library}`);
      previous = at;
      at += next;
    }
    const indices = this.#versionIndices(at);
    const next = this.bytes.readUInt32LE(at + 12);
    if (next === 0) {
      if (previous === undefined) throw new Error(`Node needs versions of ${library} alone`);
      this.bytes.writeUInt32LE(0, previous + 12);
    } else {
      // The entry is overwritten with its successor: offsets are relative to the entry that contains them.
      const after = this.bytes.readUInt32LE(at + next + 12);
      this.bytes.copy(this.bytes, at, at + next, at + next + 8);
      this.bytes.writeUInt32LE(this.bytes.readUInt32LE(at + next + 8) + next, at + 8);
      this.bytes.writeUInt32LE(after === 0 ? 0 : after + next, at + 12);
    }
    const count = [...this.#dynamicEntries()].find(({ type }) => type === tag.versionNeedsCount);
    if (count !== undefined) this.bytes.writeBigUInt64LE(BigInt(count.value - 1), count.at + 8);
    this.#countSectionDown();
    return indices;
  }

  /**
   * Corrects the count in the section header of the versions, which the dynamic linker ignores and readelf
   * reads.
   */
  #countSectionDown(): void {
    const [first, size, count] = [
      this.#number(0x28),
      this.bytes.readUInt16LE(0x3a),
      this.bytes.readUInt16LE(0x3c),
    ];
    for (let at = first; at < first + count * size; at += size) {
      if (this.bytes.readUInt32LE(at + 4) !== tag.versionNeeds) continue;
      this.bytes.writeUInt32LE(this.bytes.readUInt32LE(at + 44) - 1, at + 44);
    }
  }

  #versionIndices(need: number): Set<number> {
    const indices = new Set<number>();
    let at = need + this.bytes.readUInt32LE(need + 8);
    for (let left = this.bytes.readUInt16LE(need + 2); left > 0; left--) {
      indices.add(this.bytes.readUInt16LE(at + 6));
      at += this.bytes.readUInt32LE(at + 12);
    }
    return indices;
  }

  /** Writes code into the unused rest of the last page of the program's code, and returns its address. */
  append(code: Uint8Array): number {
    const segment = this.#segments.find(
      ({ type, flags }) => type === segmentType.load && (flags & executable) !== 0,
    );
    if (segment === undefined) throw new Error('Node has no code');
    const used = Math.ceil(segment.size / 16) * 16;
    const end = used + code.length;
    const others = this.#segments.filter(({ type }) => type === segmentType.load);
    const overlaps = others.some(
      ({ offset, address }) =>
        (offset > segment.offset && offset < segment.offset + end) ||
        (address > segment.address && address < segment.address + end),
    );
    const free = this.bytes.subarray(segment.offset + segment.size, segment.offset + end);
    if (overlaps || segment.memorySize !== segment.size || free.some((byte) => byte !== 0)) {
      throw new Error(`Node has no room for ${code.length} bytes behind its code`);
    }
    this.bytes.set(code, segment.offset + used);
    this.bytes.writeBigUInt64LE(BigInt(end), segment.header + 32);
    this.bytes.writeBigUInt64LE(BigInt(end), segment.header + 40);
    return segment.address + used;
  }

  removeNeeded(): void {
    const entries = [...this.#dynamicEntries()];
    const needed = entries.findIndex(
      ({ type, value }) => type === tag.needed && this.string(value) === library,
    );
    const [from, last] = [entries[needed], entries.at(-1)];
    if (from === undefined || last === undefined) return;
    this.bytes.copy(this.bytes, from.at, from.at + 16, last.at + 16);
    this.bytes.fill(0, last.at, last.at + 16);
  }
}
