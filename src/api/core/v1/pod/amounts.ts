/** The resources that a pod requests as a whole, exact (upstream: component-helpers/resource). Pure. */
import { type Amounts, addTo, raiseTo, readAmounts } from '../../../../apimachinery/amounts.ts';
import { addQuantities, type Quantity } from '../../../../apimachinery/quantity.ts';
import { initContainersOf, isSidecar } from '../container/init-containers.ts';
import type { PodSpec } from '../types.gen.ts';

/**
 * Returns the sum of containers and sidecars, or the maximum at any time before the containers start,
 * whichever is larger.
 */
export function containersTogether(spec: PodSpec, field: 'requests' | 'limits'): Map<string, Quantity> {
  const sum = new Map<string, Quantity>();
  for (const { resources } of spec.containers) addTo(sum, readAmounts(resources?.[field]));
  const sidecars = new Map<string, Quantity>();
  const before = new Map<string, Quantity>();
  for (const container of initContainersOf(spec)) {
    const own = readAmounts(container.resources?.[field]);
    const atATime = isSidecar(container) ? sidecars : new Map(sidecars);
    addTo(atATime, own);
    if (isSidecar(container)) addTo(sum, own);
    raiseTo(before, atATime);
  }
  raiseTo(sum, before);
  return sum;
}

/** Returns the requests with the overhead of the runtime. */
export function podRequestAmounts(spec: PodSpec): Amounts {
  const requests = containersTogether(spec, 'requests');
  addTo(requests, readAmounts(spec.overhead));
  return requests;
}

/** Returns the limits with the overhead of the runtime, which is only added to existing limits. */
export function podLimitAmounts(spec: PodSpec): Amounts {
  const limits = containersTogether(spec, 'limits');
  for (const [name, more] of readAmounts(spec.overhead)) {
    const limit = limits.get(name);
    if (limit && limit.nano !== 0n) limits.set(name, addQuantities(limit, more));
  }
  return limits;
}
