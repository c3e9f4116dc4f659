/**
 * Computes the number of replicas that a metric requires (upstream:
 * pkg/controller/podautoscaler/replica_calculator.go). Pure. Amounts are in thousandths, times in
 * milliseconds since the epoch.
 */

import { sidecarsOf } from '../../api/core/v1/container/init-containers.ts';
import { podCondition } from '../../api/core/v1/pod/conditions.ts';
import type { Pod } from '../../api/core/v1/pod/pod.ts';
import type { Container } from '../../api/core/v1/types.gen.ts';
import { isTerminating } from '../../apimachinery/meta.ts';
import { parseQuantity, quantityMilliValue } from '../../apimachinery/quantity.ts';

/** Usage of one pod. */
export interface PodUse {
  readonly value: number;
  readonly at: number;
  /** Length of the measured window before `at`, in milliseconds. */
  readonly windowMs: number;
}

export interface Sample {
  /** Pods that the target selects. */
  readonly pods: readonly Pod[];
  /** Usage by the pod's name, without pods whose usage is unknown. */
  readonly uses: ReadonlyMap<string, PodUse>;
}

export interface Question {
  readonly sample: Sample;
  /** True for CPU: the CPU usage of a pod that has just started does not reflect the load. */
  readonly isCpu: boolean;
  readonly currentReplicas: number;
  /** Maximum deviation of the ratio of usage and target from 1, up and down. */
  readonly tolerance: Tolerance;
  readonly now: number;
}

export interface Tolerance {
  readonly up: number;
  readonly down: number;
}

export interface Answer {
  readonly replicas: number;
  /** Mean usage of the counted pods. */
  readonly average: number;
  /** Usage in per cent of the requests, if the target is a utilization. */
  readonly utilization?: number;
}

/** The number of replicas cannot be computed. */
export class MetricFailure extends Error {
  override readonly name = 'MetricFailure';
}

/** Runs `act` and prefixes the message of a MetricFailure with `doing`. */
export function failing<T>(doing: string, act: () => T, behind = ''): T {
  try {
    return act();
  } catch (error) {
    if (!(error instanceof MetricFailure)) throw error;
    throw new MetricFailure(`${doing}: ${error.message}${behind}`);
  }
}

/**
 * Milliseconds after a pod's start in which its CPU samples are skipped if it is not ready, or if the sample
 * began before it became ready.
 */
const initializationMs = 5 * 60_000;
/**
 * Milliseconds after a pod's start. A pod that became unready within this time, and still is, is assumed
 * never to have been ready.
 */
const firstReadinessMs = 30_000;

interface Groups {
  readonly ready: number;
  readonly unready: readonly string[];
  readonly missing: readonly string[];
  /** Usage of the counted pods. */
  readonly uses: Map<string, number>;
}

function groupsOf({ sample: { pods, uses }, isCpu, now }: Question): Groups {
  const groups = {
    ready: 0,
    unready: [] as string[],
    missing: [] as string[],
    uses: new Map<string, number>(),
  };
  const isUnready = (pod: Pod, use: PodUse | undefined) =>
    (pod.status?.phase ?? 'Pending') === 'Pending' || (isCpu && use && isStarting(pod, use, now));
  for (const pod of pods) {
    if (isTerminating(pod) || pod.status?.phase === 'Failed') continue;
    const { name } = pod.metadata;
    const use = uses.get(name);
    if (isUnready(pod, use)) groups.unready.push(name);
    else if (!use) groups.missing.push(name);
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

/**
 * Returns the replicas for a target utilization. `target` is in per cent of the pods' requests. `requestOf`
 * throws if a pod has no request.
 */
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
  // A pod with unknown usage is assumed to use all that it requests if the result would be a scale-down.
  const ifFewer = (name: string) => (request(name) * Math.max(100, target)) / 100;
  return replicasBy(question, ratioOf, ifFewer);
}

/** Returns the replicas for a target average. `target` is the mean usage of a pod, in thousandths. */
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
  const { ratio, ...averages } = ratioOf(uses);
  const countsUnready = unready.length > 0 && ratio > 1;
  if (!countsUnready && missing.length === 0) {
    return { ...averages, replicas: isWithin(ratio, tolerance) ? currentReplicas : Math.ceil(ratio * ready) };
  }
  const guessed = withGuesses({ uses, missing, unready: countsUnready ? unready : [] }, ratio, ifFewer);
  return { ...averages, replicas: carefulReplicas(question, ratio, ratioOf(guessed).ratio, guessed.size) };
}

/**
 * Returns the replicas by the ratio `careful`, which includes assumed values. Assumed values must not turn a
 * scale-up into a scale-down or the reverse.
 */
function carefulReplicas(
  { currentReplicas, tolerance }: Question,
  ratio: number,
  careful: number,
  pods: number,
): number {
  const turned = (ratio < 1 && careful > 1) || (ratio > 1 && careful < 1);
  if (turned || isWithin(careful, tolerance)) return currentReplicas;
  const replicas = Math.ceil(careful * pods);
  const wrongWay = careful < 1 ? replicas > currentReplicas : replicas < currentReplicas;
  return wrongWay ? currentReplicas : replicas;
}

/** Adds pods with unknown usage, with values that dampen the change that the measured pods require. */
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

/**
 * Returns the amount of a resource. The resource name of a metric is arbitrary, and may be the name of a
 * property that every JavaScript object has.
 */
export const amountIn = (amounts: Readonly<Record<string, string>> | undefined, resource: string) =>
  amounts && Object.hasOwn(amounts, resource) ? amounts[resource] : undefined;

/**
 * Returns the requests of a pod's containers, or of one of them, in thousandths. Throws if a container has no
 * request.
 */
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
