/** The conditions a node agent owns (pkg/kubelet/status/generate.go), in upstream's order. */
import type { Pod } from '../../api/core/v1/pod.ts';
import { podCondition } from '../../api/core/v1/pod-conditions.ts';
import type { ContainerStatus, PodStatus } from '../../api/core/v1/types.gen.ts';
import type { Condition } from '../../apimachinery/schema.ts';
import type { ObservedPod, PodEnd } from './actions.ts';
import { holdOf } from './held-pod.ts';

export interface ConditionInput {
  /** With the conditions that others have set. */
  readonly pod: Pod;
  readonly phase: PodStatus['phase'];
  readonly containerStatuses: readonly ContainerStatus[];
  readonly initStatuses: readonly ContainerStatus[];
  /** The node's own decision to end the pod. */
  readonly end: PodEnd | undefined;
  readonly observed: ObservedPod;
}

/** The condition types that only the node agent, or the scheduler before it, sets. */
export const ownConditions: ReadonlySet<string> = new Set([
  'DisruptionTarget',
  'PodReadyToStartContainers',
  'Initialized',
  'Ready',
  'ContainersReady',
  'PodScheduled',
]);

type Said = Omit<Condition, 'type'>;

/** Without times. */
export function podConditions(input: ConditionInput): readonly Condition[] {
  const { phase, end } = input;
  const disruption = { status: 'True', reason: 'TerminationByKubelet', message: end?.message } as const;
  const leaving = end && phase !== 'Failed';
  const containersReady = leaving ? { ...disruption, status: 'False' as const } : containerReadiness(input);
  return [
    ...(end?.disruption ? [{ type: 'DisruptionTarget', ...disruption }] : []),
    { type: 'PodReadyToStartContainers', ...sandboxReadiness(input) },
    { type: 'Initialized', ...initialization(input) },
    { type: 'Ready', ...(containersReady.status === 'True' ? gates(input.pod) : containersReady) },
    { type: 'ContainersReady', ...containersReady },
    { type: 'PodScheduled', status: 'True' },
  ];
}

/** True while there is a sandbox with its network, as upstream's condition of this name. */
function sandboxReadiness({ pod, phase, observed }: ConditionInput): Said {
  if (observed.sandboxes.some(({ state }) => state === 'running')) return { status: 'True' };
  return { status: 'False', ...(phase === 'Pending' && holdOf(pod)) };
}

function initialization({ phase, containerStatuses, initStatuses }: ConditionInput): Said {
  if (phase === 'Succeeded') return { status: 'True', reason: 'PodCompleted' };
  const started = containerStatuses.some(({ containerID }) => containerID !== undefined);
  if (initStatuses.length === 0 || started) return { status: 'True' };
  const names = initStatuses.map(({ name }) => name).join(' ');
  const message = `containers with incomplete status: [${names}]`;
  return { status: 'False', reason: 'ContainersNotInitialized', message };
}

function containerReadiness({ phase, containerStatuses }: ConditionInput): Said {
  if (phase === 'Succeeded') return { status: 'False', reason: 'PodCompleted' };
  if (phase === 'Failed') return { status: 'False', reason: 'PodFailed' };
  const unready = containerStatuses.filter(({ ready }) => !ready).map(({ name }) => name);
  if (unready.length === 0) return { status: 'True' };
  const message = `containers with unready status: [${unready.join(' ')}]`;
  return { status: 'False', reason: 'ContainersNotReady', message };
}

/** Readiness gates that are not true yet. */
function gates(pod: Pod): Said {
  const missing = (pod.spec.readinessGates ?? []).flatMap(({ conditionType }) => {
    const gate = `pod readiness gate "${conditionType}"`;
    const status = podCondition(pod, conditionType)?.status;
    if (status === undefined) return [`corresponding condition of ${gate} does not exist.`];
    return status === 'True' ? [] : [`the status of ${gate} is not "True", but ${status}`];
  });
  if (missing.length === 0) return { status: 'True' };
  return { status: 'False', reason: 'ReadinessGatesNotReady', message: missing.join(', ') };
}
