/** What a pod asks for, as numbers. Pure. */
import { readAmounts } from '../../../apimachinery/amounts.ts';
import { type Quantity, quantityMilliValue, quantityValue } from '../../../apimachinery/quantity.ts';
import type { Pod } from './pod.ts';
import { podRequestAmounts } from './pod-amounts.ts';
import { reservedSpec } from './reserved-requests.ts';
import type { Container } from './types.gen.ts';

/** Thousandths for cpu, whole units for everything else; what is not a quantity counts as nothing. */
export const amounts = (quantities: Readonly<Record<string, string>> | undefined): Map<string, number> =>
  inNumbers(readAmounts(quantities));

/** Of all its containers, as far as they have them or may get them, and what the runtime needs besides. */
export const podRequests = (pod: Pick<Pod, 'spec' | 'status'>): Map<string, number> =>
  inNumbers(podRequestAmounts(reservedSpec(pod)));

const inNumbers = (exact: ReadonlyMap<string, Quantity>): Map<string, number> =>
  new Map(
    [...exact].map(([name, quantity]) => [
      name,
      name === 'cpu' ? quantityMilliValue(quantity) : quantityValue(quantity),
    ]),
  );

/** A limit without a request is the request, as the API's defaulting has it. */
export function containerRequests(container: Partial<Pick<Container, 'resources'>>): Map<string, number> {
  return new Map([...amounts(container.resources?.limits), ...amounts(container.resources?.requests)]);
}
