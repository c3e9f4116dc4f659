/** Kubernetes' functions of quantities, such as `quantity("1.5Gi")`. */
import {
  addQuantities,
  compareQuantities,
  type Quantity,
  subtractQuantities,
  tryParseQuantity,
} from '../../apimachinery/quantity.ts';
import { traversal } from '../cost/costs.ts';
import type { Run } from '../evaluation/run.ts';
import type { Declaration } from '../functions/overload.ts';
import { Fault, maxInt, minInt, noSuchOverload, Opaque, type Result, type Value } from '../values/value.ts';

class QuantityValue extends Opaque {
  readonly typeName = 'kubernetes.Quantity';
  readonly quantity: Quantity;
  constructor(quantity: Quantity) {
    super();
    this.quantity = quantity;
  }
  equals(other: Opaque): boolean {
    return other instanceof QuantityValue && compareQuantities(this.quantity, other.quantity) === 0;
  }
}

const nanoPerUnit = 1_000_000_000n;

const malformed = new Fault(
  "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'",
);

/** Returns undefined for a text that is not a quantity, or that has white space. */
function read(text: string): Quantity | undefined {
  return /\s/.test(text.slice(0, 128)) ? undefined : tryParseQuantity(text);
}

function quantity([text]: readonly Value[], run: Run): Result {
  run.work(8);
  if (typeof text !== 'string') return noSuchOverload;
  const found = read(text);
  return found === undefined ? malformed : new QuantityValue(found);
}

function of(work: (own: Quantity) => Result): Declaration[1] {
  return ([value]) => (value instanceof QuantityValue ? work(value.quantity) : noSuchOverload);
}

function withOther(work: (own: Quantity, other: Quantity) => Result): Declaration[1] {
  return ([own, other = null]) => {
    const right = quantityOf(other);
    return own instanceof QuantityValue && right ? work(own.quantity, right) : noSuchOverload;
  };
}

function quantityOf(value: Value): Quantity | undefined {
  if (value instanceof QuantityValue) return value.quantity;
  return typeof value === 'bigint' ? { nano: value * nanoPerUnit, format: 'DecimalExponent' } : undefined;
}

function asInteger({ nano }: Quantity): bigint | undefined {
  const units = nano / nanoPerUnit;
  return nano % nanoPerUnit === 0n && units <= maxInt && units >= minInt ? units : undefined;
}

const compared = (holds: (difference: number) => Result) =>
  withOther((own, other) => holds(compareQuantities(own, other)));
const added = withOther((own, other) => new QuantityValue(addQuantities(own, other)));
const subtracted = withOther((own, other) => new QuantityValue(subtractQuantities(own, other)));

const type = 'kubernetes.Quantity';

export const quantities: readonly Declaration[] = [
  [`quantity(string): ${type}`, quantity, traversal(0)],
  ['isQuantity(string): bool', (args, run) => quantity(args, run) !== malformed, traversal(0)],
  [`sign(${type}): int`, of(({ nano }) => BigInt(nano > 0n) - BigInt(nano < 0n))],
  [`${type}.isGreaterThan(${type}): bool`, compared((difference) => difference > 0)],
  [`${type}.isLessThan(${type}): bool`, compared((difference) => difference < 0)],
  [`${type}.compareTo(${type}): int`, compared((difference) => BigInt(difference))],
  [`${type}.asApproximateFloat(): double`, of(({ nano }) => Number(nano) / 1e9)],
  [`${type}.asInteger(): int`, of((own) => asInteger(own) ?? new Fault('cannot convert value to integer'))],
  [`${type}.isInteger(): bool`, of((own) => asInteger(own) !== undefined)],
  [`${type}.add(${type}): ${type}`, added],
  [`${type}.add(int): ${type}`, added],
  [`${type}.sub(${type}): ${type}`, subtracted],
  [`${type}.sub(int): ${type}`, subtracted],
];
