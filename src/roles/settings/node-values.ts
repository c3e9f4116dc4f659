/** Readers of the settings that only nodes have. Each throws an Error whose message says what is expected. */
import { mayLabelItself } from '../../api/core/v1/node/labels.ts';
import { checkLabelValue, checkQualifiedName } from '../../apimachinery/names.ts';
import { byteQuantity, parseQuantity, quantityValue, tryParseQuantity } from '../../apimachinery/quantity.ts';
import { rangeText, readRange } from '../../base/address-families.ts';
import { hasPlainHost, parseRange } from '../../base/addresses.ts';
import { type ReservedResources, reservable } from '../../kubelet/node/plan/node-status.ts';

const listed = (value: string): string[] =>
  value
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');

/** Returns the URLs of masters, in the order in which they are tried; the text may leave out `https://`. */
export function servers(value: string): readonly string[] {
  const all = listed(value).map((word) => (word.includes('://') ? word : `https://${word}`));
  if (all.length === 0 || !all.every(isServer)) {
    throw new Error('expected addresses such as https://192.0.2.10:6443, with commas between them');
  }
  return [...new Set(all.map((word) => new URL(word).origin))];
}

function isServer(word: string): boolean {
  if (!URL.canParse(word)) return false;
  const { protocol, pathname, search, hash, username, password } = new URL(word);
  return (
    protocol === 'https:' &&
    pathname === '/' &&
    search + hash + username + password === '' &&
    hasPort(word) &&
    hasPlainHost(word)
  );
}

/** The URL's own `port` is empty for 443 even if it was written. */
const hasPort = (word: string) => /:\d+\/?$/.test(word);

/** Reads a token. Ignores blanks and line breaks around it, which come from a file or a mail. */
export function token(given: string): string {
  const value = given.trim();
  if (!/^[a-z0-9]{6}\.[a-z0-9]{16}$/.test(value)) {
    throw new Error(
      'expected a token as `minik8s token create` prints it: 6 letters or digits, a dot, 16 letters or digits',
    );
  }
  return value;
}

export function authorityHash(given: string): string {
  const value = given.trim();
  if (!/^sha256:[0-9a-f]{64}$/i.test(value)) {
    throw new Error('expected sha256: and 64 hexadecimal digits, as `minik8s token create` prints it');
  }
  return value.toLowerCase();
}

export function labels(value: string): Readonly<Record<string, string>> {
  return Object.fromEntries(listed(value).map(label));
}

function label(word: string): [string, string] {
  const [name = '', content = '', ...rest] = word.split('=');
  const wrong = rest.length > 0 || !word.includes('=') || checkQualifiedName(name).length > 0;
  if (wrong || checkLabelValue(content).length > 0) {
    throw new Error(`${word} is not a label; expected labels such as disk=ssd,zone=b`);
  }
  if (!mayLabelItself(name)) {
    throw new Error(`a node may not give itself ${name}; run minik8s ctl label node NAME ${word} instead`);
  }
  return [name, content];
}

export interface TaintValue {
  readonly key: string;
  readonly value?: string;
  readonly effect: 'NoSchedule' | 'PreferNoSchedule' | 'NoExecute';
}

export function taints(value: string): readonly TaintValue[] {
  const all = listed(value).map(taint);
  const twice = all.find(({ key, effect }, index) =>
    all.slice(0, index).some((other) => other.key === key && other.effect === effect),
  );
  if (twice) throw new Error(`${twice.key}:${twice.effect} is given twice`);
  return all;
}

function taint(word: string): TaintValue {
  const [, key = '', , value = '', effect] =
    /^([^=:]+)(=([^=:]*))?:(NoSchedule|PreferNoSchedule|NoExecute)$/.exec(word) ?? [];
  if (!effect || checkQualifiedName(key).length > 0 || checkLabelValue(value).length > 0) {
    throw new Error(
      `${word} is not a taint; expected taints such as gpu=yes:NoSchedule (or PreferNoSchedule, NoExecute)`,
    );
  }
  return { key, ...(value && { value }), effect: effect as TaintValue['effect'] };
}

/** Returns a reader of quantities such as 10Mi, from `least` to `most` bytes. */
export const bytes =
  (least: number, most: number) =>
  (value: string): number => {
    const quantity = tryParseQuantity(value);
    const size = quantity ? quantityValue(quantity) : Number.NaN;
    if (size >= least && size <= most) return size;
    throw new Error(`expected bytes such as 10Mi, from ${byteQuantity(least)} to ${byteQuantity(most)}`);
  };

export function reserved(value: string): ReservedResources {
  return Object.fromEntries(listed(value).map(reservedResource));
}

function reservedResource(word: string): [string, string] {
  const name = reservable.find((known) => word.startsWith(`${known}=`));
  const amount = word.slice(word.indexOf('=') + 1);
  if (name === undefined || !isAmount(amount)) {
    throw new Error(
      `${word} is not a reserved resource; expected cpu, memory or ephemeral-storage, as in cpu=500m,memory=1Gi`,
    );
  }
  return [name, amount];
}

function isAmount(text: string): boolean {
  try {
    return parseQuantity(text).nano >= 0n;
  } catch {
    // The caller's error says what is expected.
    return false;
  }
}

/** Reads the range of one node's pods, and one of IPv6 after a comma. */
export function podRange(value: string): string {
  const [first = '', ...others] = value.split(',');
  const range = parseRange(first);
  if (!range || range.prefix < 24 || range.prefix > 28) {
    throw new Error('expected an IPv4 range with 24 to 28 bits, such as 10.244.7.0/24');
  }
  if (others.length === 0) return value;
  const second = others.length === 1 ? readRange(others[0] ?? '') : undefined;
  if (second?.family !== 6 || second.prefix < 64 || second.prefix > 120)
    throw new Error(
      'expected after the comma one IPv6 range with 64 to 120 bits, such as fd00:10:244:7::/64',
    );
  return `${first},${rangeText(second)}`;
}

/** Returns the maximum number of processes and threads; 0, and the kubelet's -1, mean no limit. */
export function podMaxPids(value: string): number {
  if (value === '0' || value === '-1') return 0;
  const [least, most] = [64, 4_194_304];
  const number = Number(value);
  if (/^\d+$/.test(value) && number >= least && number <= most) return number;
  throw new Error(`expected a whole number from ${least} to ${most}, or 0 for no limit`);
}
