/** Events for changes of a pod's status: reasons and texts are those of upstream's kubelet. */
import type { Pod } from '../../../api/core/v1/pod/pod.ts';
import type { PodStatus } from '../../../api/core/v1/types.gen.ts';
import type { PodMemory } from './actions.ts';

export interface StatusEvent {
  readonly type: 'Normal' | 'Warning';
  readonly reason: string;
  readonly message: string;
}

const allStatuses = ({
  initContainerStatuses = [],
  containerStatuses = [],
  ephemeralContainerStatuses = [],
}: PodStatus = {}) => [...initContainerStatuses, ...containerStatuses, ...ephemeralContainerStatuses];

/** Returns the events. `before` is the status that was reported last; undefined when there was none. */
export function statusEvents(
  pod: Pod,
  before: PodStatus | undefined,
  status: PodStatus,
  memory: Pick<PodMemory, 'startFailures'>,
): StatusEvent[] {
  return [...backOffs(pod, before, status, memory), ...failedStarts(before, status)];
}

function backOffs(
  pod: Pod,
  before: PodStatus | undefined,
  status: PodStatus,
  { startFailures }: Pick<PodMemory, 'startFailures'>,
): StatusEvent[] {
  return allStatuses(status).flatMap(({ name, image, state }): StatusEvent[] => {
    const known = allStatuses(before).find((other) => other.name === name);
    const reason = state?.waiting?.reason;
    if (known?.state?.waiting?.reason === reason) return [];
    if (reason === 'CrashLoopBackOff') {
      const { name: podName, namespace, uid } = pod.metadata;
      const message = `Back-off restarting failed container ${name} in pod ${podName}_${namespace}(${uid})`;
      return [{ type: 'Warning', reason: 'BackOff', message }];
    }
    if (reason !== 'ImagePullBackOff') return [];
    const missing = startFailures.get(name)?.image ?? image;
    return [
      { type: 'Normal', reason: 'BackOff', message: `Back-off pulling image ${JSON.stringify(missing)}` },
      { type: 'Warning', reason: 'Failed', message: 'Error: ImagePullBackOff' },
    ];
  });
}

/**
 * Returns events for programs that could not be started: their container ends at once, and the event has the
 * reason.
 */
function failedStarts(before: PodStatus | undefined, status: PodStatus): StatusEvent[] {
  return allStatuses(status).flatMap(({ name, state, lastState }): StatusEvent[] => {
    const ended = state?.terminated ?? lastState?.terminated;
    if (ended?.reason !== 'ContainerCannotRun') return [];
    const known = allStatuses(before).find((other) => other.name === name);
    const reported = [known?.state?.terminated, known?.lastState?.terminated];
    if (reported.some((other) => other?.containerID === ended.containerID)) return [];
    const message = `Error: failed to start container ${name}: ${ended.message}`;
    return [{ type: 'Warning', reason: 'Failed', message }];
  });
}
