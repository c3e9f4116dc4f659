/** Converts amounts of processors, memory and storage of other systems to Kubernetes' quantities. Pure. */
import { tryParseQuantity } from '../../apimachinery/quantity.ts';

/** Docker counts processors in billionths; Kubernetes' smallest unit is a thousandth. */
const nanosPerMilli = 1_000_000;

/** Resources for which a suffix of thousandths (`m`) makes no sense. */
const inBytes: ReadonlySet<string> = new Set(['memory', 'storage', 'ephemeral-storage', 'sizeLimit']);

/**
 * Returns the quantity for an amount such as `64MB` or, for processors, `500000000` billionths. Returns
 * undefined if the amount is unchanged, or if it is invalid: the server rejects such amounts. `resource` is a
 * name such as cpu, memory or sizeLimit.
 */
export function quantityOf(resource: string, amount: string | number): string | undefined {
  const text = String(amount);
  return resource === 'cpu' ? processors(text) : bytes(text, inBytes.has(resource));
}

/**
 * Converts a whole number of at least a million, which must be billionths: no node has a million processors.
 */
function processors(amount: string): string | undefined {
  const nanos = /^\s*\d+\s*$/.test(amount) ? Number(amount) : 0;
  return nanos >= nanosPerMilli ? `${Math.ceil(nanos / nanosPerMilli)}m` : undefined;
}

/** Reads `64MB`, `1 GiB`, `512K`; also `512m`, which Kubernetes would read as thousandths of a byte. */
function bytes(amount: string, noThousandths: boolean): string | undefined {
  const [, count, letter = '', binary] =
    /^\s*(\d{1,18}(?:\.\d{1,9})?)\s*([kmgtpe]?)(i?)b?\s*$/i.exec(amount) ?? [];
  if (count === undefined || (binary !== '' && letter === '')) return undefined;
  if (tryParseQuantity(amount) && !(letter === 'm' && noThousandths)) return undefined;
  const unit = letter.toUpperCase();
  if (binary !== '') return `${count}${unit}i`;
  return `${count}${unit === 'K' ? 'k' : unit}`;
}
