/**
 * The treatment of a container whose startup or liveness probe failed (pkg/kubelet/kuberuntime:
 * computePodActions, killContainer).
 */
import { graceSecondsOf } from '../../../api/core/v1/pod/grace.ts';
import type { Pod } from '../../../api/core/v1/pod/pod.ts';
import type { Container } from '../../../api/core/v1/types.gen.ts';
import { failedProbe } from '../../probes/plan/probe-results.ts';
import type { ContainerState } from '../../runtime/runtime.ts';
import type { PodMemory } from './actions.ts';

export interface ProbeStop {
  readonly graceSeconds: number;
  readonly why: string;
  /** Message of the event. */
  readonly message: string;
}

/** Returns the stop of a running container whose probe failed; undefined when none did. */
export function probeStop(
  { spec }: Pod,
  wanted: Container,
  { id, name }: ContainerState,
  { probes }: Pick<PodMemory, 'probes'>,
): ProbeStop | undefined {
  const failed = failedProbe(probes.get(id));
  if (!failed) return undefined;
  const probe = failed === 'startup' ? wanted.startupProbe : wanted.livenessProbe;
  const again = wanted.restartPolicy === 'Always' || spec.restartPolicy !== 'Never';
  return {
    graceSeconds: probe?.terminationGracePeriodSeconds ?? graceSecondsOf(spec),
    why: `its ${failed} probe failed`,
    message: `Container ${name} failed ${failed} probe${again ? ', will be restarted' : ''}`,
  };
}

/**
 * Returns true for a container that was stopped for a failed probe and starts again, whatever its exit status
 * was; false where the pod never restarts containers.
 */
export const endedForProbe = (
  { spec }: Pod,
  { id }: ContainerState,
  { probes }: Pick<PodMemory, 'probes'>,
): boolean => spec.restartPolicy !== 'Never' && failedProbe(probes.get(id)) !== undefined;
