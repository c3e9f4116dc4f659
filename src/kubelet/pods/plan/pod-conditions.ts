/** The conditions that a node agent owns (pkg/kubelet/status/generate.go), in upstream's order. */
import { sidecarsOf } from '../../../api/core/v1/container/init-containers.ts';
import { podCondition } from '../../../api/core/v1/pod/conditions.ts';
import type { Pod } from '../../../api/core/v1/pod/pod.ts';
import type { ContainerStatus, PodStatus } from '../../../api/core/v1/types.gen.ts';
import type { Condition } from '../../../apimachinery/schema.ts';
import type { ObservedPod } from '../../runtime/observed-pod.ts';
import type { PodEnd, PodMemory } from './actions.ts';
import { holdOf } from './held-pod.ts';
import { resizeConditions } from './resize-status.ts';

export interface ConditionInput {
  /** The pod, including the conditions that other components have set. */
  readonly pod: Pod;
  readonly phase: PodStatus['phase'];
  readonly containerStatuses: readonly ContainerStatus[];
  readonly initStatuses: readonly ContainerStatus[];
  /** The node's own decision to end the pod. */
  readonly end: PodEnd | undefined;
  readonly observed: ObservedPod;
  readonly memory: Pick<PodMemory, 'canMountImages'>;
}

/** The condition types that only the node agent, or the scheduler before it, sets. */
const ownConditions: ReadonlySet<string> = new Set([
  'DisruptionTarget',
  'PodReadyToStartContainers',
  'Initialized',
  'Ready',
  'ContainersReady',
  'PodScheduled',
  ...resizeConditions,
]);

/**
 * Returns true when the node agent owns the condition. DisruptionTarget is set by the component that ends the
 * pod: an eviction, preemption, or the node, which alone uses the reason compared here.
 */
export const isOwnCondition = ({ type, reason }: Pick<Condition, 'type' | 'reason'>): boolean =>
  ownConditions.has(type) && (type !== 'DisruptionTarget' || reason === 'TerminationByKubelet');

type Finding = Omit<Condition, 'type'>;

/** Returns the conditions without their times. */
export function podConditions(input: ConditionInput): readonly Condition[] {
  const { phase, end } = input;
  const disruption = { status: 'True', reason: 'TerminationByKubelet', message: end?.message } as const;
  const containersReady = containerReadiness(input);
  return [
    // Set only once the pod has failed: an agent that restarts earlier may not end the pod.
    ...(end?.disruption && phase === 'Failed' ? [{ type: 'DisruptionTarget', ...disruption }] : []),
    { type: 'PodReadyToStartContainers', ...sandboxReadiness(input) },
    { type: 'Initialized', ...initialization(input) },
    { type: 'Ready', ...(containersReady.status === 'True' ? gates(input.pod) : containersReady) },
    { type: 'ContainersReady', ...containersReady },
    { type: 'PodScheduled', status: 'True' },
  ];
}

/** Returns the condition that is True while there is a sandbox with its network, as upstream. */
function sandboxReadiness({ pod, phase, observed, memory }: ConditionInput): Finding {
  if (observed.sandboxes.some(({ state }) => state === 'running')) return { status: 'True' };
  return { status: 'False', ...(phase === 'Pending' && holdOf(pod, memory)) };
}

function initialization({ pod, phase, containerStatuses, initStatuses }: ConditionInput): Finding {
  if (phase === 'Succeeded') return { status: 'True', reason: 'PodCompleted' };
  // Once the pod's own containers have run, a restart of a sidecar does not make the condition false again.
  if (containerStatuses.some(({ state }) => state?.running ?? state?.terminated)) return { status: 'True' };
  const sidecars = new Set(sidecarsOf(pod.spec).map(({ name }) => name));
  const incomplete = initStatuses.filter(
    ({ name, ready, started }) => !(sidecars.has(name) ? started : ready),
  );
  if (incomplete.length === 0) return { status: 'True' };
  const message = `containers with incomplete status: ${namesOf(incomplete)}`;
  return { status: 'False', reason: 'ContainersNotInitialized', message };
}

function containerReadiness({ pod, phase, containerStatuses, initStatuses, end }: ConditionInput): Finding {
  if (phase === 'Succeeded') return { status: 'False', reason: 'PodCompleted' };
  // A pod that the node ends counts as failed: it must no longer get traffic.
  if (end || phase === 'Failed') return { status: 'False', reason: 'PodFailed' };
  const sidecars = new Set(sidecarsOf(pod.spec).map(({ name }) => name));
  const serving = [...initStatuses.filter(({ name }) => sidecars.has(name)), ...containerStatuses];
  const unready = serving.filter(({ ready }) => !ready);
  if (unready.length === 0) return { status: 'True' };
  const message = `containers with unready status: ${namesOf(unready)}`;
  return { status: 'False', reason: 'ContainersNotReady', message };
}

/** Formats a list as Go does. */
const namesOf = (statuses: readonly ContainerStatus[]) => `[${statuses.map(({ name }) => name).join(' ')}]`;

/** Returns the condition Ready from the readiness gates: False while one is not true. */
function gates(pod: Pod): Finding {
  const missing = (pod.spec.readinessGates ?? []).flatMap(({ conditionType }) => {
    const gate = `pod readiness gate "${conditionType}"`;
    const status = podCondition(pod, conditionType)?.status;
    if (status === undefined) return [`corresponding condition of ${gate} does not exist.`];
    return status === 'True' ? [] : [`the status of ${gate} is not "True", but ${status}`];
  });
  if (missing.length === 0) return { status: 'True' };
  return { status: 'False', reason: 'ReadinessGatesNotReady', message: missing.join(', ') };
}
