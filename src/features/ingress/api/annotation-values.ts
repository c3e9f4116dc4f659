/**
 * Readers of the values of annotations. Pure. Each returns the value, or throws an Error that states what is
 * expected. The returned values are safe in a web server's configuration.
 */
import { isAddress, isCIDR } from '../../../base/addresses.ts';

const expected = (what: string) => new Error(`expected ${what}`);

export function flag(value: string): boolean {
  const word = value.trim().toLowerCase();
  if (word === 'true') return true;
  if (word === 'false') return false;
  throw expected('true or false');
}

export function onOff(value: string): boolean {
  if (value === 'on') return true;
  if (value === 'off') return false;
  throw expected('on or off');
}

const maxSeconds = 24 * 60 * 60;

/** Returns seconds; the value may end with `s`. */
export function seconds(value: string): number {
  const [, digits] = /^(\d{1,6})s?$/.exec(value.trim()) ?? [];
  const number = Number(digits);
  if (digits === undefined || number < 1 || number > maxSeconds)
    throw expected(`whole seconds from 1 to ${maxSeconds}`);
  return number;
}

const units: Readonly<Record<string, number>> = { '': 1, k: 1024, m: 1024 ** 2, g: 1024 ** 3 };
const maxBytes = 1024 ** 4;

/** Returns bytes, from a value such as `8m`; 0 means no limit. */
export function bytes(value: string): number {
  const [, digits, unit = ''] = /^(\d{1,13})([kmg]?)b?$/i.exec(value.trim()) ?? [];
  const number = Number(digits) * (units[unit.toLowerCase()] ?? 1);
  if (digits === undefined || number > maxBytes) throw expected('a size such as 8m, or 0 for no limit');
  return number;
}

const maxRanges = 100;

/** Returns ranges of addresses, at least one. */
export function ranges(value: string): readonly string[] {
  const all = value.split(',').map((one) => one.trim());
  if (all.length > maxRanges) throw expected(`no more than ${maxRanges} ranges`);
  for (const one of all)
    if (!isCIDR(one) && !isAddress(one))
      throw expected(`ranges such as 10.0.0.0/8, not ${JSON.stringify(one)}`);
  return all;
}

export function oneOf<const T extends string>(...choices: readonly T[]) {
  return (value: string): T => {
    const found = choices.find((choice) => choice === value.trim().toUpperCase());
    if (found === undefined) throw expected(`one of ${choices.join(', ')}`);
    return found;
  };
}

/** Returns a URL as written, without characters that have a meaning in the configuration. */
export function url(value: string): string {
  if (value.length > 2048 || !/^https?:\/\/[A-Za-z0-9._~:/?#[\]@!&'()*+,;=%-]+$/.test(value))
    throw expected('a URL that begins with http:// or https://');
  return value;
}

const statuses = [301, 302, 303, 307, 308];

export function redirectStatus(value: string): number {
  const status = Number(value);
  if (!statuses.includes(status)) throw expected(`one of ${statuses.join(', ')}`);
  return status;
}

export function cookieName(value: string): string {
  if (!/^[A-Za-z0-9_]{1,64}$/.test(value)) throw expected("up to 64 letters, digits and '_'");
  return value;
}

/** Returns a path in which `$1` to `$9` stand for groups; no other dollar sign is allowed. */
export function rewriteTarget(value: string): string {
  const rest = value.replaceAll(/\$[1-9]/g, '');
  if (value.length > 512 || !value.startsWith('/') || !/^[A-Za-z0-9._~!'()*+,;:@&=?/%-]*$/.test(rest))
    throw expected("a path that begins with '/', with $1 to $9 for groups");
  return value;
}

const maxOrigins = 20;

export function origins(value: string): readonly string[] {
  const all = value.split(',').map((one) => one.trim());
  const isOrigin = (one: string) => one === '*' || /^https?:\/\/[A-Za-z0-9.-]+(?::\d{1,5})?$/.test(one);
  if (all.length > maxOrigins || !all.every(isOrigin))
    throw expected(`* or up to ${maxOrigins} origins such as https://shop.example`);
  return all;
}

/** Returns names of methods or headers, separated by commas. */
export function names(value: string): string {
  if (value.length > 1024 || (!/^[A-Za-z0-9-]+(?:\s*,\s*[A-Za-z0-9-]+)*$/.test(value) && value !== '*'))
    throw expected('names separated by commas');
  return value;
}
