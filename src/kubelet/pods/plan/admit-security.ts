/** Checks whether a new pod requires kernel settings that this node does not provide. */
import type { Pod } from '../../../api/core/v1/pod/pod.ts';
import { forbiddenSysctl, type SysctlPattern } from '../../containers/plan/sysctls.ts';
import type { PodEnd } from './actions.ts';
import { refusal } from './admit-pod.ts';

export interface NodeSecurity {
  readonly hasAppArmor: boolean;
  /** Sysctls that are allowed in addition to the safe ones. */
  readonly unsafeSysctls: readonly SysctlPattern[];
}

/**
 * Returns undefined when the pod may run here, else its rejection, worded as the kubelet's admission
 * handlers.
 */
export function securityRefusal(pod: Pod, { hasAppArmor, unsafeSysctls }: NodeSecurity): PodEnd | undefined {
  const sysctl = forbiddenSysctl(pod, unsafeSysctls);
  if (sysctl !== undefined) return refusal('SysctlForbidden', sysctl);
  if (hasAppArmor || !asksForAppArmor(pod)) return undefined;
  return refusal('AppArmor', 'Cannot enforce AppArmor: AppArmor is not enabled on the host');
}

function asksForAppArmor({ spec }: Pod): boolean {
  const contexts = [spec, ...(spec.initContainers ?? []), ...spec.containers].map(
    ({ securityContext }) => securityContext,
  );
  return contexts.some((context) => (context?.appArmorProfile?.type ?? 'Unconfined') !== 'Unconfined');
}
