/** The nodes as a map: each with its pods, and how much of it they request and use. Pure. */
import type { JsonObject } from '../../../../../apimachinery/equality.ts';
import { metadataOf, recordsAt, textAt, valueAt } from '../../../../../apimachinery/fields.ts';
import { quantityMilliValue, quantityValue } from '../../../../../apimachinery/quantity.ts';
import { podAmounts } from '../../../../../views/pod-amounts.ts';
import { hasEnded } from '../../../../../views/pods.ts';
import { sumOf, type Use, type UsedAmount, useIn } from '../../../../../views/usage.ts';
import { conditionOf } from '../../../../../why/pod-facts.ts';
import { type PodHealth, podHealth, podPhase } from '../../../pods/plan/pod-phase.ts';
import { remembered } from '../../../pods/plan/remembered.ts';

export type Measure = UsedAmount;

export interface MappedPod {
  readonly namespace: string;
  readonly name: string;
  readonly phase: string;
  readonly health: PodHealth;
  readonly requests: Use;
  /** Undefined until the node has measured the pod. */
  readonly use: Use | undefined;
}

export interface MappedNode {
  readonly name: string;
  readonly isReady: boolean;
  readonly isCordoned: boolean;
  /** Conditions such as MemoryPressure that are true. */
  readonly pressures: readonly string[];
  readonly allocatable: Use;
  readonly maxPods: number;
  readonly requests: Use;
  readonly use: Use | undefined;
  /** Pods on the node, the ones that take most first. */
  readonly pods: readonly MappedPod[];
}

export interface MapSource {
  readonly nodes: readonly JsonObject[];
  readonly pods: readonly JsonObject[];
  /** Items of metrics.k8s.io; empty for a user who may not read them. */
  readonly nodeMetrics: readonly JsonObject[];
  readonly podMetrics: readonly JsonObject[];
}

/** Returns the nodes, those with the largest share in use first; pods by what they use of the measure. */
export function nodeMap(source: MapSource, measure: Measure): readonly MappedNode[] {
  const nodeUse = new Map(source.nodeMetrics.map((one) => [metadataOf(one).name, useIn(one, 'usage')]));
  const podUse = new Map(source.podMetrics.map((one) => [placeOf(one), useOfPod(one)]));
  const running = source.pods.filter((pod) => !hasEnded(pod));
  const byNode = Map.groupBy(running, (pod) => textAt(pod, 'spec', 'nodeName'));
  return source.nodes
    .map((node) => mapped(node, nodeUse, podUse, byNode.get(metadataOf(node).name) ?? [], measure))
    .sort((a, b) => shareOf(b, measure) - shareOf(a, measure) || (a.name < b.name ? -1 : 1));
}

const placeOf = (object: JsonObject) => `${metadataOf(object).namespace}/${metadataOf(object).name}`;

const useOfPod = (metrics: JsonObject): Use =>
  sumOf(recordsAt(metrics, 'containers').map((container) => useIn(container, 'usage')));

function mapped(
  node: JsonObject,
  nodeUse: ReadonlyMap<string, Use>,
  podUse: ReadonlyMap<string, Use>,
  own: readonly JsonObject[],
  measure: Measure,
): MappedNode {
  const { name } = metadataOf(node);
  const pods = own
    .map(podFacts)
    .map((pod) => ({ ...pod, use: podUse.get(`${pod.namespace}/${pod.name}`) }))
    .sort((a, b) => weightOf(b, measure) - weightOf(a, measure) || (a.name < b.name ? -1 : 1));
  return {
    name,
    isReady: conditionOf(node, 'Ready')?.status === 'True',
    isCordoned: valueAt(node, 'spec', 'unschedulable') === true,
    pressures: recordsAt(node, 'status', 'conditions')
      .filter(({ type, status }) => String(type).endsWith('Pressure') && status === 'True')
      .map(({ type }) => String(type)),
    allocatable: useIn(node, 'status', 'allocatable'),
    maxPods: Number(valueAt(node, 'status', 'allocatable', 'pods')) || 0,
    requests: sumOf(pods.map(({ requests }) => requests)),
    use: nodeUse.get(name),
    pods,
  };
}

type PodFacts = Omit<MappedPod, 'use'>;

/**
 * Returns what the map shows of a pod besides its use; the result is kept, because computing thousands takes
 * time.
 */
export const podFacts: (pod: JsonObject) => PodFacts = remembered((pod) => ({
  ...{ namespace: metadataOf(pod).namespace, name: metadataOf(pod).name },
  ...{ phase: podPhase(pod), health: podHealth(pod) },
  requests: sumOfRequests(pod),
}));

function sumOfRequests(pod: JsonObject): Use {
  const amounts = podAmounts(pod, 'requests');
  const [cpu, memory] = [amounts.get('cpu'), amounts.get('memory')];
  return { cpu: cpu ? quantityMilliValue(cpu) : 0, memory: memory ? quantityValue(memory) : 0 };
}

/** Returns what a pod takes: the larger of its usage and its requests. */
export const weightOf = ({ use, requests }: MappedPod, measure: Measure): number =>
  Math.max(use?.[measure] ?? 0, requests[measure]);

/**
 * Returns the share of a node that is used, or that is requested if usage is not measured: 0 to 1 and above.
 */
export const shareOf = ({ use, requests, allocatable }: MappedNode, measure: Measure): number =>
  allocatable[measure] > 0 ? (use ?? requests)[measure] / allocatable[measure] : 0;
