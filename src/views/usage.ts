/** Readers of the usage in answers of metrics.k8s.io. Pure. */
import type { JsonObject } from '../apimachinery/equality.ts';
import { recordAt, valueAt } from '../apimachinery/fields.ts';
import {
  quantityMilliValue,
  quantityValue,
  tryParseQuantity,
  zeroQuantity,
} from '../apimachinery/quantity.ts';

/** Usage in thousandths of a processor, and in bytes. */
export interface Use {
  readonly cpu: number;
  readonly memory: number;
}

/** Returns the amounts of a field such as `usage`, `allocatable` or `requests`; 0 for what is absent. */
export function useIn(parent: JsonObject, ...field: readonly string[]): Use {
  const amounts = recordAt(parent, ...field);
  const amount = (name: string) => {
    const text = valueAt(amounts, name);
    const isText = typeof text === 'string' || typeof text === 'number';
    return (isText && tryParseQuantity(text)) || zeroQuantity;
  };
  return { cpu: quantityMilliValue(amount('cpu')), memory: quantityValue(amount('memory')) };
}

export const sumOf = (uses: readonly Use[]): Use => ({
  cpu: uses.reduce((sum, { cpu }) => sum + cpu, 0),
  memory: uses.reduce((sum, { memory }) => sum + memory, 0),
});
