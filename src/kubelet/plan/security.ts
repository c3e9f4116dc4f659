/** The parts of a container's securityContext that are acted on; nothing is given that was not asked for. */
import type { Pod } from '../../api/core/v1/pod.ts';
import type { Container } from '../../api/core/v1/pod-spec.ts';
import type { ContainerConfig } from '../runtime/runtime.ts';

/** The container's own setting before the pod's; undefined leaves the image's. */
export function containerUser(pod: Pod, container: Container, imageUser: string): string | undefined {
  const user = container.securityContext?.runAsUser ?? pod.spec.securityContext.runAsUser;
  const group = container.securityContext?.runAsGroup ?? pod.spec.securityContext.runAsGroup;
  if (user === undefined && group === undefined) return undefined;
  const named = user === undefined ? imageUser.split(':')[0] || '0' : String(user);
  return group === undefined ? named : `${named}:${group}`;
}

type Security = Pick<
  ContainerConfig,
  'privileged' | 'readOnlyRootFilesystem' | 'noNewPrivileges' | 'addCapabilities' | 'dropCapabilities'
>;

export function securityOf({ securityContext = {} }: Container): Security {
  const { allowPrivilegeEscalation } = securityContext as { readonly allowPrivilegeEscalation?: unknown };
  return {
    privileged: securityContext.privileged ?? false,
    readOnlyRootFilesystem: securityContext.readOnlyRootFilesystem ?? false,
    noNewPrivileges: allowPrivilegeEscalation === false,
    addCapabilities: securityContext.capabilities?.add ?? [],
    dropCapabilities: securityContext.capabilities?.drop ?? [],
  };
}
