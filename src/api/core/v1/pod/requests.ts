/** The resources that a pod requests, as numbers. Pure. */
import { readAmounts } from '../../../../apimachinery/amounts.ts';
import { type Quantity, quantityMilliValue, quantityValue } from '../../../../apimachinery/quantity.ts';
import type { Container, Pod } from '../types.gen.ts';
import { podRequestAmounts } from './amounts.ts';
import { reservedSpec } from './reserved-requests.ts';

/**
 * Returns thousandths for cpu, whole units for other resources; a text that is not a quantity is left out.
 */
export const amounts = (quantities: Readonly<Record<string, string>> | undefined): Map<string, number> =>
  inNumbers(readAmounts(quantities));

/**
 * Returns the requests of all containers, considering a resize in progress, and the overhead of the runtime.
 */
export const podRequests = (pod: Pick<Pod, 'spec' | 'status'>): Map<string, number> =>
  inNumbers(podRequestAmounts(reservedSpec(pod)));

const inNumbers = (exact: ReadonlyMap<string, Quantity>): Map<string, number> =>
  new Map(
    [...exact].map(([name, quantity]) => [
      name,
      name === 'cpu' ? quantityMilliValue(quantity) : quantityValue(quantity),
    ]),
  );

/**
 * Returns the requests of a container. A limit without a request is the request, as in the API's defaulting.
 */
export function containerRequests(container: Partial<Pick<Container, 'resources'>>): Map<string, number> {
  return new Map([...amounts(container.resources?.limits), ...amounts(container.resources?.requests)]);
}
