/** Parses a kubelet's usage report (/stats/summary), as far as metrics.k8s.io needs it. Pure. */

import type { RateSample } from './node-samples.ts';
import { type Json, listOf, objectOf, textOf } from './report-fields.ts';

export const usagePath = '/stats/summary?only_cpu_and_memory=true';

export interface Use {
  /** Milliseconds since the epoch. */
  readonly at: number;
  /** Billionths of a processor. */
  readonly cpu: number;
  /** Bytes of the working set. */
  readonly memory: number;
}

export interface PodSample {
  readonly uid: string;
  /** Samples by container name; undefined if no container runs, or one has no rate yet. */
  readonly containers: ReadonlyMap<string, Use> | undefined;
}

export interface NodeSample extends RateSample {
  /** Undefined while there is no rate yet. */
  readonly node: Use | undefined;
  /** Samples by the uid of the pod. */
  readonly pods: ReadonlyMap<string, PodSample>;
}

/**
 * Returns a non-negative integer that a quantity can represent; any other value would break the answer for
 * all nodes.
 */
const numberOf = (value: unknown) =>
  Number.isSafeInteger(value) && Number(value) >= 0 ? Number(value) : undefined;
/** Returns NaN for a time that clients cannot parse. */
const timeOf = (value: unknown) => (/^\d{4}-/.test(textOf(value)) ? Date.parse(textOf(value)) : Number.NaN);

/** Parses a report; parts of unknown form are left out, because a kubelet may send anything. */
export function sampleOf(summary: unknown): NodeSample {
  const { node, pods } = objectOf(summary);
  const samples = listOf(pods).map((pod): [string, PodSample] => {
    const uid = textOf(objectOf(pod.podRef).uid);
    return [uid, { uid, containers: containersOf(listOf(pod.containers)) }];
  });
  const containers = listOf(pods).flatMap((pod) => listOf(pod.containers));
  return {
    node: useOf(objectOf(node)),
    pods: new Map(samples.filter(([uid]) => uid !== '')),
    lacksRates: [objectOf(node), ...containers].some((one) => useOf(one) === undefined),
  };
}

function containersOf(containers: readonly Json[]): ReadonlyMap<string, Use> | undefined {
  const uses = new Map<string, Use>();
  for (const container of containers) {
    const use = useOf(container);
    if (!use) return undefined;
    uses.set(textOf(container.name), use);
  }
  return uses.size > 0 ? uses : undefined;
}

function useOf({ cpu: cpuField, memory: memoryField }: Json): Use | undefined {
  const [cpu, memory] = [objectOf(cpuField), objectOf(memoryField)];
  const at = timeOf(cpu.time);
  const [rate, bytes] = [numberOf(cpu.usageNanoCores), numberOf(memory.workingSetBytes)];
  return rate === undefined || bytes === undefined || Number.isNaN(at)
    ? undefined
    : { at, cpu: rate, memory: bytes };
}
