/**
 * How many replicas a metric asks for (upstream: pkg/controller/podautoscaler/replica_calculator.go). Pure. Amounts are in thousandths,
 * times in milliseconds since the epoch.
 */

import { sidecarsOf } from '../../api/core/v1/init-containers.ts';
import type { Pod } from '../../api/core/v1/pod.ts';
import { podCondition } from '../../api/core/v1/pod-conditions.ts';
import type { Container } from '../../api/core/v1/types.gen.ts';
import { parseQuantity, quantityMilliValue } from '../../apimachinery/quantity.ts';

/** What one pod uses. */
export interface PodUse {
  readonly value: number;
  readonly at: number;
  /** Over what time before `at` it was measured. */
  readonly windowMs: number;
}

export interface Sample {
  /** Those that the target selects. */
  readonly pods: readonly Pod[];
  /** By the pod's name; without those of which nothing is known. */
  readonly uses: ReadonlyMap<string, PodUse>;
}

export interface Question {
  readonly sample: Sample;
  /** CPU of a pod that has just started says nothing of the load. */
  readonly isCpu: boolean;
  readonly currentReplicas: number;
  /** How far from 1 the ratio of use and target may be, up and down. */
  readonly tolerance: Tolerance;
  readonly now: number;
}

export interface Tolerance {
  readonly up: number;
  readonly down: number;
}

export interface Answer {
  readonly replicas: number;
  /** The mean of the pods that count. */
  readonly average: number;
  /** Per cent of what they request, where that is the target. */
  readonly utilization?: number;
}

/** Why no number can be said. */
export class MetricFailure extends Error {
  override readonly name = 'MetricFailure';
}

/** A failure of `act` says what was being done. */
export function failing<T>(doing: string, act: () => T, behind = ''): T {
  try {
    return act();
  } catch (error) {
    if (!(error instanceof MetricFailure)) throw error;
    throw new MetricFailure(`${doing}: ${error.message}${behind}`);
  }
}

/** A pod that is not ready by then counts as one that starts. */
const initializationMs = 5 * 60_000;
/** What becomes ready within this was only not looked at yet. */
const firstReadinessMs = 30_000;

interface Groups {
  readonly ready: number;
  readonly unready: readonly string[];
  readonly missing: readonly string[];
  /** Of the pods that count. */
  readonly uses: Map<string, number>;
}

function groupsOf({ sample: { pods, uses }, isCpu, now }: Question): Groups {
  const groups = {
    ready: 0,
    unready: [] as string[],
    missing: [] as string[],
    uses: new Map<string, number>(),
  };
  for (const pod of pods) {
    const { name, deletionTimestamp } = pod.metadata;
    if (deletionTimestamp !== undefined || pod.status?.phase === 'Failed') continue;
    const use = uses.get(name);
    if ((pod.status?.phase ?? 'Pending') === 'Pending') groups.unready.push(name);
    else if (!use) groups.missing.push(name);
    else if (isCpu && isStarting(pod, use, now)) groups.unready.push(name);
    else {
      groups.ready++;
      groups.uses.set(name, use.value);
    }
  }
  return groups;
}

function isStarting({ status, ...pod }: Pod, use: PodUse, now: number): boolean {
  const ready = podCondition({ ...pod, status }, 'Ready');
  if (!ready || !status?.startTime) return true;
  const started = Date.parse(status.startTime);
  const since = Date.parse(ready.lastTransitionTime ?? '');
  if (started + initializationMs > now) return ready.status === 'False' || use.at < since + use.windowMs;
  return ready.status === 'False' && started + firstReadinessMs > since;
}

/** `target`: per cent of what the pods request; `requestOf` throws where a pod requests nothing. */
export function replicasByUtilization(
  question: Question,
  target: number,
  requestOf: (pod: Pod) => number,
): Answer {
  let requests: ReadonlyMap<string, number> | undefined;
  const request = (name: string) => {
    requests ??= new Map(question.sample.pods.map((pod) => [pod.metadata.name, requestOf(pod)]));
    return requests.get(name) ?? 0;
  };
  const ratioOf = (uses: ReadonlyMap<string, number>) => {
    const [used, requested] = [sum(uses.values()), sum([...uses.keys()].map(request))];
    if (requested === 0) throw new MetricFailure('no metrics returned matched known pods');
    const utilization = Math.trunc((used * 100) / requested);
    return { ratio: utilization / target, utilization, average: Math.trunc(used / uses.size) };
  };
  // A pod of which nothing is known may use all that it requests, when fewer pods are asked for.
  const ifFewer = (name: string) => (request(name) * Math.max(100, target)) / 100;
  return replicasBy(question, ratioOf, ifFewer);
}

/** `target`: the mean use of a pod, in thousandths. */
export function replicasByAverage(question: Question, target: number): Answer {
  const ratioOf = (uses: ReadonlyMap<string, number>) => {
    const average = Math.trunc(sum(uses.values()) / uses.size);
    return { ratio: average / target, average };
  };
  return replicasBy(question, ratioOf, () => target);
}

type RatioOf = (uses: ReadonlyMap<string, number>) => Omit<Answer, 'replicas'> & { readonly ratio: number };

function replicasBy(question: Question, ratioOf: RatioOf, ifFewer: (pod: string) => number): Answer {
  const { currentReplicas, sample, tolerance } = question;
  if (sample.pods.length === 0)
    throw new MetricFailure('no pods returned by selector while calculating replica count');
  const { ready, unready, missing, uses } = groupsOf(question);
  if (uses.size === 0)
    throw new MetricFailure('did not receive metrics for targeted pods (pods might be unready)');
  const { ratio, ...told } = ratioOf(uses);
  const countsUnready = unready.length > 0 && ratio > 1;
  if (!countsUnready && missing.length === 0) {
    return { ...told, replicas: isWithin(ratio, tolerance) ? currentReplicas : Math.ceil(ratio * ready) };
  }
  const guessed = withGuesses({ uses, missing, unready: countsUnready ? unready : [] }, ratio, ifFewer);
  const { ratio: careful } = ratioOf(guessed);
  // What is not known must not turn more into fewer, nor the other way.
  const turned = (ratio < 1 && careful > 1) || (ratio > 1 && careful < 1);
  if (turned || isWithin(careful, tolerance)) return { ...told, replicas: currentReplicas };
  const replicas = Math.ceil(careful * guessed.size);
  const wrongWay = careful < 1 ? replicas > currentReplicas : replicas < currentReplicas;
  return { ...told, replicas: wrongWay ? currentReplicas : replicas };
}

/** Those of which nothing is known use so much that they hold up what the others ask for. */
function withGuesses(
  { uses, missing, unready }: Pick<Groups, 'uses' | 'missing' | 'unready'>,
  ratio: number,
  ifFewer: (pod: string) => number,
): ReadonlyMap<string, number> {
  const guessed = new Map(uses);
  if (ratio < 1) for (const name of missing) guessed.set(name, ifFewer(name));
  if (ratio > 1) for (const name of missing) guessed.set(name, 0);
  for (const name of unready) guessed.set(name, 0);
  return guessed;
}

export const isWithin = (ratio: number, { up, down }: Tolerance) => ratio >= 1 - down && ratio <= 1 + up;

const sum = (values: Iterable<number>) => [...values].reduce((total, value) => total + value, 0);

/** A metric may ask for a resource of any name, also one that all objects of the language have. */
export const amountIn = (amounts: Readonly<Record<string, string>> | undefined, resource: string) =>
  amounts && Object.hasOwn(amounts, resource) ? amounts[resource] : undefined;

/** Thousandths of what the containers of a pod request, or one of them. Throws where one of them requests nothing. */
export function requestOf(pod: Pod, resource: string, container: string | undefined): number {
  const all: readonly Container[] = [...pod.spec.containers, ...sidecarsOf(pod.spec)];
  const counted = container === undefined ? all : all.filter(({ name }) => name === container);
  if (counted.length === 0)
    throw new MetricFailure(`container ${container} not found in Pod ${pod.metadata.name}`);
  return sum(
    counted.map(({ name, resources }) => {
      const request = amountIn(resources?.requests, resource);
      if (request === undefined)
        throw new MetricFailure(
          `missing request for ${resource} in container ${name} of Pod ${pod.metadata.name}`,
        );
      return quantityMilliValue(parseQuantity(request));
    }),
  );
}
