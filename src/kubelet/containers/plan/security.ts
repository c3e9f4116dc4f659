/** The rights of a container, from its own securityContext and its pod's; nothing is granted without a request. */
import type { Pod } from '../../../api/core/v1/pod.ts';
import type { Container, SELinuxOptions } from '../../../api/core/v1/types.gen.ts';
import type { ConfinementProfile, ContainerConfig } from '../../runtime/runtime.ts';
import { sysctlsOf } from './sysctls.ts';

/** The container's own setting before the pod's; undefined leaves the image's. */
export function containerUser(pod: Pod, container: Container, imageUser: string): string | undefined {
  const user = container.securityContext?.runAsUser ?? pod.spec.securityContext.runAsUser;
  const group = container.securityContext?.runAsGroup ?? pod.spec.securityContext.runAsGroup;
  if (user === undefined && group === undefined) return undefined;
  const named = user === undefined ? userOf(imageUser) || '0' : String(user);
  return group === undefined ? named : `${named}:${group}`;
}

/**
 * Why a container that must not run as root may not start; undefined when it may. Upstream's verifyRunAsNonRoot: what
 * the image names counts only where nothing else does, and a name could be anybody.
 */
export function nonRootProblem(pod: Pod, container: Container, imageUser: string): string | undefined {
  const own = container.securityContext;
  const { metadata, spec } = pod;
  if (!(own?.runAsNonRoot ?? spec.securityContext.runAsNonRoot)) return undefined;
  const where = `(pod: "${metadata.name}_${metadata.namespace}(${metadata.uid})", container: ${container.name})`;
  const user = own?.runAsUser ?? spec.securityContext.runAsUser;
  if (user !== undefined) {
    return user === 0 ? `container's runAsUser breaks non-root policy ${where}` : undefined;
  }
  const named = userOf(imageUser);
  if (named !== '' && !/^\d+$/.test(named)) {
    return `container has runAsNonRoot and image has non-numeric user (${named}), cannot verify user is non-root ${where}`;
  }
  return Number(named) === 0 ? `container has runAsNonRoot and image will run as root ${where}` : undefined;
}

/** Without the group. */
const userOf = (imageUser: string) => imageUser.replace(/:.*$/, '');

type Security = Pick<
  ContainerConfig,
  | 'privileged'
  | 'readOnlyRootFilesystem'
  | 'noNewPrivileges'
  | 'addCapabilities'
  | 'dropCapabilities'
  | 'groups'
  | 'sysctls'
  | 'seccomp'
  | 'appArmor'
  | 'seLinux'
  | 'processes'
  | 'hostIPC'
>;

/** `processesOf`: the id of the container whose processes it is to see. */
export function securityOf(pod: Pod, container: Container, processesOf?: string): Security {
  const { securityContext = {} } = container;
  const { spec } = pod;
  const { supplementalGroups = [], fsGroup, seccompProfile } = spec.securityContext;
  return {
    privileged: securityContext.privileged ?? false,
    readOnlyRootFilesystem: securityContext.readOnlyRootFilesystem ?? false,
    noNewPrivileges: securityContext.allowPrivilegeEscalation === false,
    addCapabilities: securityContext.capabilities?.add ?? [],
    dropCapabilities: securityContext.capabilities?.drop ?? [],
    groups: fsGroup === undefined ? supplementalGroups : [...supplementalGroups, fsGroup],
    sysctls: sysctlsOf(pod),
    seccomp: profileOf((securityContext.seccompProfile ?? seccompProfile)?.type),
    appArmor: appArmorOf(pod, container),
    seLinux: seLinuxOf(securityContext.seLinuxOptions ?? spec.securityContext.seLinuxOptions ?? {}),
    processes: spec.hostPID ? 'host' : spec.shareProcessNamespace ? 'pod' : processesIn(processesOf),
    hostIPC: spec.hostIPC ?? false,
  };
}

const processesIn = (container: string | undefined) => (container === undefined ? 'own' : { container });

/** The container's labels take the place of all of the pod's, as upstream. */
const seLinuxOf = (labels: SELinuxOptions) =>
  Object.fromEntries(
    Object.entries(labels).flatMap(([part, label]) => (label ? [[part, label] as const] : [])),
  );

/** The file of rules that the container asks for, below the agent's folder of profiles; undefined for none. */
export function seccompFileOf({ spec }: Pod, { securityContext }: Container): string | undefined {
  const profile = securityContext?.seccompProfile ?? spec.securityContext.seccompProfile;
  return profile?.type === 'Localhost' ? profile.localhostProfile : undefined;
}

function appArmorOf({ spec }: Pod, { securityContext }: Container): ContainerConfig['appArmor'] {
  const profile = securityContext?.appArmorProfile ?? spec.securityContext.appArmorProfile;
  return profile?.type === 'Localhost' && profile.localhostProfile
    ? { profile: profile.localhostProfile }
    : profileOf(profile?.type);
}

/** One of the machine's own has a name besides. */
const profileOf = (type: string | undefined): ConfinementProfile | undefined =>
  type === 'RuntimeDefault' || type === 'Unconfined' ? type : undefined;
