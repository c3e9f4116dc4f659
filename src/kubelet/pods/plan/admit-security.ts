/** Whether a pod that is new to a node asks for something of its kernel that it cannot have there. */
import type { Pod } from '../../../api/core/v1/pod.ts';
import { forbiddenSysctl, type SysctlPattern } from '../../containers/plan/sysctls.ts';
import type { PodEnd } from './actions.ts';
import { refusal } from './admit-pod.ts';

export interface NodeSecurity {
  readonly hasAppArmor: boolean;
  /** Besides those that are safe. */
  readonly unsafeSysctls: readonly SysctlPattern[];
}

/** Undefined when it may run there; as the kubelet's handlers say it. */
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
