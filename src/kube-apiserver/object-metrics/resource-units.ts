/** Amounts of resources as numbers, with the unit that they are told in (kube-state-metrics: pkg/constant, internal/store/utils.go). Pure. */
import { isExtended } from '../../api/core/v1/resource-names.ts';
import { quantityMilliValue, quantityValue, tryParseQuantity } from '../../apimachinery/quantity.ts';

type Amounts = Readonly<Record<string, string>> | undefined;

/** Of more units upstream does not count thousandths, which would be no int64. */
const mostOfMillis = Number(2n ** 63n / 1000n);

/** In units, to the thousandth, rounded up; undefined for what is no quantity. */
export function unitsOf(text: string | undefined): number | undefined {
  const quantity = text === undefined ? undefined : tryParseQuantity(text);
  if (!quantity) return undefined;
  const whole = quantityValue(quantity);
  return whole > mostOfMillis ? whole : quantityMilliValue(quantity) / 1000;
}

/** In whole units, rounded up. */
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

/** Undefined for a resource that is not told. */
function unitOf(resource: string): Unit | undefined {
  const unit = units[resource];
  if (unit) return unit;
  if (/^(?:hugepages|attachable-volumes)-/.test(resource)) return 'byte';
  return isExtended(resource) && !resource.startsWith('requests.') ? 'integer' : undefined;
}

export interface Amount {
  /** As the label of a sample: `nvidia_com_gpu`. */
  readonly resource: string;
  readonly unit: Unit;
  readonly value: number;
}

/** What a container may have: all but CPU in whole units. */
export const containerAmounts = (amounts: Amounts): readonly Amount[] =>
  amountsIn(amounts, unitOf, (text, unit) => (unit === 'core' ? unitsOf(text) : wholeUnitsOf(text)));

/** What a node has: pods too, and everything to the thousandth. */
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

/** What is no letter, digit or underscore becomes an underscore. */
export const labelName = (text: string) => text.replace(/[^a-zA-Z0-9_]/g, '_');
