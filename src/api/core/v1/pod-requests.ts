/** What a pod asks for, as numbers. Pure. */
import { quantityMilliValue, quantityValue, tryParseQuantity } from '../../../apimachinery/quantity.ts';
import { initContainersOf } from './init-containers.ts';
import type { Pod } from './pod.ts';
import type { Container } from './types.gen.ts';

/** Thousandths for cpu, whole units for everything else; what is not a quantity counts as nothing. */
export function amounts(quantities: Readonly<Record<string, string>> | undefined): Map<string, number> {
  const result = new Map<string, number>();
  for (const [name, text] of Object.entries(quantities ?? {})) {
    const quantity = tryParseQuantity(text);
    if (quantity) result.set(name, name === 'cpu' ? quantityMilliValue(quantity) : quantityValue(quantity));
  }
  return result;
}

/** The sum of the containers' requests, or of the largest init container's where that is more; and what the runtime needs besides. */
export function podRequests(pod: Pod): Map<string, number> {
  const total = new Map<string, number>();
  for (const container of pod.spec.containers)
    for (const [name, amount] of containerRequests(container))
      total.set(name, (total.get(name) ?? 0) + amount);
  for (const container of initContainersOf(pod.spec))
    for (const [name, amount] of containerRequests(container))
      total.set(name, Math.max(total.get(name) ?? 0, amount));
  for (const [name, amount] of amounts(pod.spec.overhead)) total.set(name, (total.get(name) ?? 0) + amount);
  return total;
}

/** A limit without a request is the request, as the API's defaulting has it. */
export function containerRequests(container: Partial<Pick<Container, 'resources'>>): Map<string, number> {
  return new Map([...amounts(container.resources?.limits), ...amounts(container.resources?.requests)]);
}
