/**
 * Quality of service: the order of eviction when a node runs out of resources (upstream: component-helpers
 * qos.ComputePodQOS).
 */
import { tryParseQuantity } from '../../../../apimachinery/quantity.ts';
import { initContainersOf } from '../container/init-containers.ts';
import type { PodSpec } from '../types.gen.ts';

export type QosClass = 'Guaranteed' | 'Burstable' | 'BestEffort';

type Amounts = Readonly<Record<string, string>> | undefined;

const counted = ['cpu', 'memory'] as const;

/** Returns the class of a pod. A missing request is the limit. */
export function qosClassOf(spec: PodSpec): QosClass {
  const amounts = [...spec.containers, ...initContainersOf(spec)].flatMap(({ resources }) =>
    counted.map((name) => ({
      request: nano(resources?.requests, name) ?? nano(resources?.limits, name) ?? 0n,
      limit: nano(resources?.limits, name) ?? 0n,
    })),
  );
  if (amounts.every(({ request, limit }) => request === 0n && limit === 0n)) return 'BestEffort';
  return amounts.every(({ request, limit }) => limit > 0n && request === limit) ? 'Guaranteed' : 'Burstable';
}

function nano(amounts: Amounts, name: string): bigint | undefined {
  const text = amounts?.[name];
  return text === undefined ? undefined : tryParseQuantity(text)?.nano;
}
