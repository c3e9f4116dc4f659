/** Amounts of processors, memory and storage as other systems write them, as Kubernetes' quantities. Pure. */
import { tryParseQuantity } from '../../apimachinery/quantity.ts';

/** Docker counts processors in billionths; Kubernetes keeps no less than thousandths. */
const nanosPerMilli = 1_000_000;

/** Resources of which an amount in thousandths means nothing. */
const inBytes: ReadonlySet<string> = new Set(['memory', 'storage', 'ephemeral-storage', 'sizeLimit']);

/**
 * The quantity that is meant by an amount such as `64MB` or, for processors, `500000000` billionths;
 * undefined when the amount stays as it is, also one that nobody reads: the server refuses that. `resource`
 * is such as cpu, memory or sizeLimit.
 */
export function quantityOf(resource: string, amount: string | number): string | undefined {
  const text = String(amount);
  return resource === 'cpu' ? processors(text) : bytes(text, inBytes.has(resource));
}

/** No node has a million processors, and no container asks for less than a thousandth of one. */
function processors(amount: string): string | undefined {
  const nanos = /^\s*\d+\s*$/.test(amount) ? Number(amount) : 0;
  return nanos >= nanosPerMilli ? `${Math.ceil(nanos / nanosPerMilli)}m` : undefined;
}

/** `64MB`, `1 GiB`, `512K`; and `512m` where Kubernetes would read thousandths of a byte. */
function bytes(amount: string, noThousandths: boolean): string | undefined {
  const [, count, letter = '', binary] =
    /^\s*(\d{1,18}(?:\.\d{1,9})?)\s*([kmgtpe]?)(i?)b?\s*$/i.exec(amount) ?? [];
  if (count === undefined || (binary !== '' && letter === '')) return undefined;
  if (tryParseQuantity(amount) && !(letter === 'm' && noThousandths)) return undefined;
  const unit = letter.toUpperCase();
  if (binary !== '') return `${count}${unit}i`;
  return `${count}${unit === 'K' ? 'k' : unit}`;
}
