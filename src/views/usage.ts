/** Readers of the usage in answers of metrics.k8s.io. Pure. */
import type { JsonObject } from '../apimachinery/equality.ts';
import { recordAt, valueAt } from '../apimachinery/fields.ts';
import {
  quantityMilliValue,
  quantityValue,
  tryParseQuantity,
  zeroQuantity,
} from '../apimachinery/quantity.ts';

/** Amounts that every server reports. */
export type UsedAmount = 'cpu' | 'memory';

/** Usage in thousandths of a processor, and in bytes. */
export interface Use {
  readonly cpu: number;
  readonly memory: number;
  /** Bytes of swap; default 0. */
  readonly swap?: number;
}

/** Returns the amounts of a field such as `usage`, `allocatable` or `requests`; 0 for what is absent. */
export function useIn(parent: JsonObject, ...field: readonly string[]): Use {
  const amounts = recordAt(parent, ...field);
  const amount = (name: string) => {
    const text = valueAt(amounts, name);
    const isText = typeof text === 'string' || typeof text === 'number';
    return (isText && tryParseQuantity(text)) || zeroQuantity;
  };
  const swap = quantityValue(amount('swap'));
  return {
    cpu: quantityMilliValue(amount('cpu')),
    memory: quantityValue(amount('memory')),
    ...(swap > 0 && { swap }),
  };
}

export function sumOf(uses: readonly Use[]): Use {
  const of = (one: keyof Use) => uses.reduce((sum, use) => sum + (use[one] ?? 0), 0);
  const swap = of('swap');
  return { cpu: of('cpu'), memory: of('memory'), ...(swap > 0 && { swap }) };
}
