/**
 * Readers of values that several settings share. Each throws an Error whose message says what is expected.
 */
import { normalize } from 'node:path';
import { rangeText, readRange } from '../base/address-families.ts';
import { addressKind, canonicalAddress, isIPv4, parseRange, rangeAround } from '../base/addresses.ts';

export const text = (value: string) => value;

/** Requires an absolute path: the next start, or the reset, may run in another working directory. */
export function directory(value: string): string {
  if (!value.startsWith('/')) throw new Error('expected a path from the root, such as /var/lib/minik8s');
  return normalize(value).replace(/(?<=.)\/$/, '');
}

/** Reads paths separated by commas. */
export const directories = (value: string): readonly string[] => value.split(',').map(directory);

export function wholeNumber(least: number, most: number) {
  return (value: string): number => {
    const number = Number(value);
    if (!/^\d+$/.test(value) || number < least || number > most) {
      throw new Error(`expected a whole number from ${least} to ${most}`);
    }
    return number;
  };
}

export function address(value: string): string {
  if (!isIPv4(value)) throw new Error('expected an IPv4 address such as 192.0.2.10');
  return value;
}

/** Reads an IPv4 address to listen at, or `::` for all addresses of both families. */
export const listenAddress = (value: string): string => (value === '::' ? value : address(value));

/** Reads an IPv4 range, which must be written with its first address. */
export function cidr(value: string): string {
  const range = rangeAround(value);
  if (!range || range.prefix < 8 || range.prefix > 28) {
    throw new Error('expected an IPv4 range with 8 to 28 bits, such as 10.244.0.0/16');
  }
  if (!parseRange(value))
    throw new Error(`${value.split('/')[0]} is not the first address of a /${range.prefix} range`);
  return value;
}

/**
 * Returns a reader of an IPv4 range, or of an IPv4 range and one of IPv6 after a comma. The IPv6 range must
 * have a prefix length from `least` to `most`; `example` is one.
 */
export function familyCidrs(least: number, most: number, example: string) {
  return (value: string): string => {
    const [first = '', ...others] = value.split(',');
    if (others.length === 0) return cidr(value);
    const range = others.length === 1 ? readRange(others[0] ?? '') : undefined;
    if (range?.family !== 6 || range.prefix < least || range.prefix > most)
      throw new Error(
        `expected after the comma one IPv6 range by its first address, with ${least} to ${most} bits, such as ${example}`,
      );
    return `${cidr(first)},${rangeText(range)}`;
  };
}

/** Reads an IPv6 address that other machines can reach, and returns its canonical text. */
export function ipv6Address(value: string): string {
  const canonical = canonicalAddress(value);
  if (!canonical?.includes(':') || addressKind(canonical) !== 'unicast')
    throw new Error('expected an IPv6 address of this machine such as 2001:db8::10');
  return canonical;
}

/** Returns a reader that accepts the choices, and has them as a property for the completion of shells. */
export function oneOf<const T extends string>(...choices: readonly T[]) {
  const read = (value: string): T => {
    const choice = choices.find((candidate) => candidate === value);
    if (choice === undefined) throw new Error(`expected one of ${choices.join(', ')}`);
    return choice;
  };
  return Object.assign(read, { choices });
}
