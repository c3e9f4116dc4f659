/** Kubernetes' functions of semantic versions, such as `semver("1.2.3-rc.1")`. */
import { traversal } from '../cost/costs.ts';
import type { Declaration } from '../functions/overload.ts';
import { Fault, maxUint, noSuchOverload, Opaque, type Result, type Value } from '../values/value.ts';

class Version extends Opaque {
  readonly typeName = 'kubernetes.Semver';
  readonly numbers: readonly bigint[];
  readonly prerelease: readonly (bigint | string)[];
  constructor(numbers: readonly bigint[], prerelease: readonly (bigint | string)[]) {
    super();
    this.numbers = numbers;
    this.prerelease = prerelease;
  }
  equals(other: Opaque): boolean {
    return other instanceof Version && compare(this, other) === 0;
  }
}

const maxLength = 256;
const shape =
  /^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(?:-([0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*))?(?:\+[0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*)?$/;

function parse(text: string): Version | undefined {
  const found = text.length > maxLength ? null : shape.exec(text);
  if (!found) return undefined;
  const numbers = found.slice(1, 4).map(BigInt);
  const parts = (found[4] ?? '').split('.').filter((part) => part !== '');
  if (numbers.some((number) => number > maxUint) || parts.some((part) => /^0\d+$/.test(part)))
    return undefined;
  return new Version(
    numbers,
    parts.map((part) => (/^\d+$/.test(part) ? BigInt(part) : part)),
  );
}

function compare(left: Version, right: Version): number {
  for (let at = 0; at < 3; at++) {
    const difference = order(left.numbers[at] ?? 0n, right.numbers[at] ?? 0n);
    if (difference !== 0) return difference;
  }
  return comparePrereleases(left.prerelease, right.prerelease);
}

/** Compares prereleases. A version without one is higher. */
function comparePrereleases(left: Version['prerelease'], right: Version['prerelease']): number {
  if (left.length === 0 || right.length === 0) return Math.sign(right.length - left.length);
  for (let at = 0; at < Math.min(left.length, right.length); at++) {
    const difference = comparePart(left[at] ?? '', right[at] ?? '');
    if (difference !== 0) return difference;
  }
  return Math.sign(left.length - right.length);
}

/** Compares identifiers. A number is lower than a word. */
function comparePart(left: bigint | string, right: bigint | string): number {
  if (typeof left === 'bigint') return typeof right === 'bigint' ? order(left, right) : -1;
  return typeof right === 'bigint' ? 1 : order(left, right);
}

function order<T extends bigint | string>(left: T, right: T): number {
  if (left === right) return 0;
  return left < right ? -1 : 1;
}

function semver([text]: readonly Value[]): Result {
  if (typeof text !== 'string') return noSuchOverload;
  return parse(text) ?? new Fault(`Invalid Semantic Version: ${JSON.stringify(text.slice(0, maxLength))}`);
}

function part(at: number): Declaration[1] {
  return ([version]) => (version instanceof Version ? (version.numbers[at] ?? 0n) : noSuchOverload);
}

function compared(holds: (difference: number) => Result): Declaration[1] {
  return ([left, right]) =>
    left instanceof Version && right instanceof Version ? holds(compare(left, right)) : noSuchOverload;
}

const type = 'kubernetes.Semver';

export const versions: readonly Declaration[] = [
  [`semver(string): ${type}`, semver, traversal(0)],
  [
    'isSemver(string): bool',
    ([text]) => (typeof text === 'string' ? parse(text) !== undefined : noSuchOverload),
    traversal(0),
  ],
  [`${type}.major(): int`, part(0)],
  [`${type}.minor(): int`, part(1)],
  [`${type}.patch(): int`, part(2)],
  [`${type}.isGreaterThan(${type}): bool`, compared((difference) => difference > 0)],
  [`${type}.isLessThan(${type}): bool`, compared((difference) => difference < 0)],
  [`${type}.compareTo(${type}): int`, compared((difference) => BigInt(difference))],
];
