/**
 * Privileges of a container, from its own securityContext and its pod's; nothing is granted without a
 * request.
 */
import type { Pod } from '../../../api/core/v1/pod/pod.ts';
import type { Container, SELinuxOptions } from '../../../api/core/v1/types.gen.ts';
import type { ConfinementProfile, ContainerConfig } from '../../runtime/container-config.ts';
import { sysctlsOf } from './sysctls.ts';

/**
 * Returns the user: the container's own setting takes precedence over the pod's; undefined for the image's.
 */
export function containerUser(pod: Pod, container: Container, imageUser: string): string | undefined {
  const user = container.securityContext?.runAsUser ?? pod.spec.securityContext.runAsUser;
  const group = container.securityContext?.runAsGroup ?? pod.spec.securityContext.runAsGroup;
  if (user === undefined && group === undefined) return undefined;
  const named = user === undefined ? userOf(imageUser) || '0' : String(user);
  return group === undefined ? named : `${named}:${group}`;
}

/**
 * Returns the reason why a container that must not run as root may not start; undefined when it may.
 * Upstream: verifyRunAsNonRoot. The image's user counts only where no other is set, and a user name could
 * stand for any uid.
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

/** Returns the user without the group. */
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

/** Returns the settings. `processesOf` is the id of the container whose processes this one sees. */
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
    processes: processesSeen(spec, processesOf),
    hostIPC: spec.hostIPC ?? false,
  };
}

function processesSeen(
  { hostPID, shareProcessNamespace }: Pod['spec'],
  processesOf: string | undefined,
): Security['processes'] {
  if (hostPID) return 'host';
  return shareProcessNamespace ? 'pod' : processesIn(processesOf);
}

const processesIn = (container: string | undefined) => (container === undefined ? 'own' : { container });

/**
 * Returns the SELinux labels that are set, by part. A container's labels replace all of the pod's, as
 * upstream.
 */
const seLinuxOf = (labels: SELinuxOptions) =>
  Object.fromEntries(
    Object.entries(labels).flatMap(([part, label]) => (label ? [[part, label] as const] : [])),
  );

/**
 * Returns the seccomp file that the container requests, below the agent's folder of profiles; undefined for
 * none.
 */
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

/** Returns the type of a profile of the engine; undefined for Localhost, whose profile has a name. */
const profileOf = (type: string | undefined): ConfinementProfile | undefined =>
  type === 'RuntimeDefault' || type === 'Unconfined' ? type : undefined;
