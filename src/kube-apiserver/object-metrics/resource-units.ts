/**
 * Converts amounts of resources to numbers, with their unit (kube-state-metrics: pkg/constant,
 * internal/store/utils.go). Pure.
 */
import { isExtended } from '../../api/core/v1/container/resource-names.ts';
import { quantityMilliValue, quantityValue, tryParseQuantity } from '../../apimachinery/quantity.ts';

type Amounts = Readonly<Record<string, string>> | undefined;

/** Largest amount for which upstream counts thousandths; more would exceed int64. */
const maxOfMillis = Number(2n ** 63n / 1000n);

/** Returns units, to the thousandth, rounded up; undefined for a text that is no quantity. */
export function unitsOf(text: string | undefined): number | undefined {
  const quantity = text === undefined ? undefined : tryParseQuantity(text);
  if (!quantity) return undefined;
  const whole = quantityValue(quantity);
  return whole > maxOfMillis ? whole : quantityMilliValue(quantity) / 1000;
}

/** Returns whole units, rounded up; undefined for a text that is no quantity. */
export function wholeUnitsOf(text: string | undefined): number | undefined {
  const quantity = text === undefined ? undefined : tryParseQuantity(text);
  return quantity && quantityValue(quantity);
}

export type Unit = 'core' | 'byte' | 'integer';

const units: Readonly<Record<string, Unit>> = {
  cpu: 'core',
  memory: 'byte',
  storage: 'byte',
  'ephemeral-storage': 'byte',
};

/** Returns the unit of a resource; undefined for a resource that is not reported. */
function unitOf(resource: string): Unit | undefined {
  const unit = units[resource];
  if (unit) return unit;
  if (/^(?:hugepages|attachable-volumes)-/.test(resource)) return 'byte';
  return isExtended(resource) && !resource.startsWith('requests.') ? 'integer' : undefined;
}

export interface Amount {
  /** Name as a label value: `nvidia_com_gpu`. */
  readonly resource: string;
  readonly unit: Unit;
  readonly value: number;
}

/** Returns the amounts of a container: all except CPU in whole units. */
export const containerAmounts = (amounts: Amounts): readonly Amount[] =>
  amountsIn(amounts, unitOf, (text, unit) => (unit === 'core' ? unitsOf(text) : wholeUnitsOf(text)));

/** Returns the amounts of a node, including pods, all to the thousandth. */
export const nodeAmounts = (amounts: Amounts): readonly Amount[] =>
  amountsIn(amounts, (resource) => (resource === 'pods' ? 'integer' : unitOf(resource)), unitsOf);

function amountsIn(
  amounts: Amounts,
  unitFor: (resource: string) => Unit | undefined,
  numberOf: (text: string, unit: Unit) => number | undefined,
): readonly Amount[] {
  return Object.entries(amounts ?? {}).flatMap(([resource, text]) => {
    const unit = unitFor(resource);
    const value = unit && numberOf(text, unit);
    return value === undefined || !unit ? [] : [{ resource: labelName(resource), unit, value }];
  });
}

/** Replaces every character except letters, digits and underscores by an underscore. */
export const labelName = (text: string) => text.replace(/[^a-zA-Z0-9_]/g, '_');
