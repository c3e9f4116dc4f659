/** Selects the probes that run now for a pod in its current state (pkg/kubelet/prober: doProbe). */

import { isPodTerminal } from '../../../api/core/v1/pod/conditions.ts';
import type { Pod } from '../../../api/core/v1/pod/pod.ts';
import type { Container, Probe } from '../../../api/core/v1/types.gen.ts';
import type { ObservedPod } from '../../runtime/observed-pod.ts';
import type { ContainerState } from '../../runtime/runtime.ts';
import {
  failedProbe,
  hasStarted,
  type PodProbeResults,
  type ProbeKind,
  type ProbeResults,
} from './probe-results.ts';

export interface WantedProbe {
  /** Key of the container and kind. */
  readonly key: string;
  readonly kind: ProbeKind;
  readonly probe: Probe;
  readonly container: Container;
  readonly containerId: string;
  /** Milliseconds since the epoch. */
  readonly startedAt: number;
  readonly podIP: string;
}

/**
 * Returns the probes. `pod` must have its newest status. `isEnding` is true when the pod is deleted or the
 * node ends it.
 */
export function wantedProbes(
  pod: Pod,
  { containers }: ObservedPod,
  results: PodProbeResults,
  isEnding: boolean,
): readonly WantedProbe[] {
  const podIP = pod.status?.podIP;
  if (podIP === undefined || isPodTerminal(pod)) return [];
  return probedContainers(pod.spec).flatMap((container) => {
    const running = containers.find(({ name, state }) => name === container.name && state === 'running');
    if (running?.startedAt === undefined) return [];
    const { id: containerId, startedAt } = running;
    return kindsNow(container, results.get(containerId) ?? {}, isEnding).map(([kind, probe]) => ({
      key: `${containerId}/${kind}`,
      kind,
      probe,
      container,
      containerId,
      startedAt,
      podIP,
    }));
  });
}

/** Returns the pod's own containers and its sidecars. */
const probedContainers = ({ containers, initContainers = [] }: Pod['spec']): readonly Container[] => [
  ...containers,
  ...initContainers.filter(({ restartPolicy }) => restartPolicy === 'Always'),
];

type KindAndProbe = readonly [kind: ProbeKind, probe: Probe];

/**
 * Returns the kinds that run now. A container that is about to end is not restarted, so only its readiness
 * matters to clients.
 */
function kindsNow(container: Container, results: ProbeResults, isEnding: boolean): readonly KindAndProbe[] {
  const { startupProbe, livenessProbe, readinessProbe } = container;
  const failed = failedProbe(results) !== undefined;
  if (!hasStarted(container, results))
    return startupProbe && !failed && !isEnding ? [['startup', startupProbe]] : [];
  return [
    ...(livenessProbe && !failed && !isEnding ? [['liveness', livenessProbe] as const] : []),
    ...(readinessProbe ? [['readiness', readinessProbe] as const] : []),
  ];
}

/**
 * Returns the results from before this agent's start: those in the pod's status, if they are of this
 * container. They are valid until its probes decide otherwise, so that a restart of the agent takes nothing
 * out of service.
 */
export function decidedBefore({ status }: Pod, { id, name }: ContainerState): ProbeResults {
  const statuses = [...(status?.containerStatuses ?? []), ...(status?.initContainerStatuses ?? [])];
  const found = statuses.find((one) => one.name === name);
  if (found?.containerID !== `docker://${id}`) return {};
  return { ...(found.started && { startup: true }), ...(found.ready && { readiness: true }) };
}
