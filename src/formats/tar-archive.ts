/**
 * Archives in the format that tar programs of containers read: POSIX ustar, with GNU's members for longer
 * names. Browsers use this file too, so it has no Buffer.
 */

export interface TarMember {
  /** Relative path with forward slashes. */
  readonly name: string;
  readonly type: 'file' | 'directory' | 'symlink';
  /** Permission bits. */
  readonly mode: number;
  readonly uid: number;
  readonly gid: number;
  /** Size in bytes; 0 unless it is a file. */
  readonly size: number;
  /** Modification time in seconds since 1970. */
  readonly modified: number;
  /** Target of a symlink. */
  readonly target?: string;
}

export const blockSize = 512;
const types = { file: '0', directory: '5', symlink: '2' } as const;
const encoder = new TextEncoder();
const byteLength = (text: string): number => encoder.encode(text).length;

function joined(parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const whole = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

const fields = { name: [0, 100], target: [157, 100], prefix: [345, 155] } as const;

/** Returns the header that precedes a member's content. */
export function memberHeader(member: TarMember): Uint8Array<ArrayBuffer> {
  const name = member.type === 'directory' ? `${member.name.replace(/\/$/, '')}/` : member.name;
  const { target = '' } = member;
  const parts: Uint8Array[] = [];
  const split = splitName(name);
  if (!split) parts.push(longText('L', name));
  if (byteLength(target) > fields.target[1]) parts.push(longText('K', target));
  parts.push(block({ ...member, target, type: types[member.type], ...(split ?? { name, prefix: '' }) }));
  return joined(parts);
}

/** Returns the padding that follows content of that length. */
export const padding = (size: number): Uint8Array<ArrayBuffer> =>
  new Uint8Array((blockSize - (size % blockSize)) % blockSize);

/** The end of an archive, which follows the last member. */
export const archiveEnd: Uint8Array<ArrayBuffer> = new Uint8Array(2 * blockSize);

/** Splits a name into the two fields for it; returns undefined when it does not fit. */
function splitName(name: string): { readonly name: string; readonly prefix: string } | undefined {
  const [, longest] = fields.name;
  if (byteLength(name) <= longest) return { name, prefix: '' };
  for (let at = name.indexOf('/'); at >= 0; at = name.indexOf('/', at + 1)) {
    const [prefix, rest] = [name.slice(0, at), name.slice(at + 1)];
    if (byteLength(prefix) > fields.prefix[1]) return undefined;
    if (prefix !== '' && rest !== '' && byteLength(rest) <= longest) return { name: rest, prefix };
  }
  return undefined;
}

/** Returns a member whose content is the name (L) or the target (K) of the next member. */
function longText(type: 'L' | 'K', text: string): Uint8Array {
  const content = encoder.encode(`${text}\0`);
  const header = { mode: 0, uid: 0, gid: 0, modified: 0, target: '', prefix: '', size: content.length };
  return joined([block({ ...header, name: '././@LongLink', type }), content, padding(content.length)]);
}

interface Block extends Required<Omit<TarMember, 'type'>> {
  readonly type: string;
  readonly prefix: string;
}

function block(member: Block): Uint8Array {
  const bytes = new Uint8Array(blockSize);
  const text = (value: string, [at, length]: readonly [number, number]) =>
    bytes.set(encoder.encode(value).subarray(0, length), at);
  text(member.name, fields.name);
  number(bytes, 100, 8, member.mode);
  number(bytes, 108, 8, member.uid);
  number(bytes, 116, 8, member.gid);
  number(bytes, 124, 12, member.size);
  number(bytes, 136, 12, Math.max(0, Math.floor(member.modified)));
  text(member.type, [156, 1]);
  text(member.target, fields.target);
  text('ustar\u000000', [257, 8]);
  text(member.prefix, fields.prefix);
  // The checksum is computed with its own field filled with spaces.
  bytes.fill(0x20, 148, 156);
  const sum = bytes.reduce((total, byte) => total + byte, 0);
  text(`${sum.toString(8).padStart(6, '0')}\0 `, [148, 8]);
  return bytes;
}

/** Writes octal digits; a larger number in GNU's format: the first bit set, then big-endian. */
function number(bytes: Uint8Array<ArrayBuffer>, at: number, length: number, value: number): void {
  const digits = value.toString(8);
  if (digits.length < length) bytes.set(encoder.encode(`${digits.padStart(length - 1, '0')}\0`), at);
  else {
    new DataView(bytes.buffer).setBigUint64(at + length - 8, BigInt(value));
    bytes[at] = (bytes[at] ?? 0) | 0x80;
  }
}
