/**
 * Rules of a pod's security settings in the kernel (upstream: validatePodSpecSecurityContext,
 * validateSysctls).
 */
import { repeats } from '../../../../apimachinery/equality.ts';
import {
  duplicateCause,
  forbiddenCause,
  invalidCause,
  requiredCause,
  tooLongCause,
} from '../../../../apimachinery/field-error.ts';
import { checkQualifiedName, nameCauses } from '../../../../apimachinery/names.ts';
import type { StatusCause } from '../../../../apimachinery/status-error.ts';
import type { AppArmorProfile, Container, PodSpec, SeccompProfile } from '../types.gen.ts';
import { backsteps } from '../volume/host-path-validation.ts';
import { dottedSysctl, sysctlNamespace } from './sysctl-names.ts';

const maxId = 2147483647;
const maxSysctlLength = 253;
/** Maximum characters of a path. */
const maxProfileLength = 4095;
const sysctlSegment = '[a-z0-9]([-_a-z0-9]*[a-z0-9])?';
const sysctlName = new RegExp(`^(${sysctlSegment}[\\./])*${sysctlSegment}$`);

export function validatePodSecurity(spec: PodSpec, path: string): StatusCause[] {
  const { securityContext, hostPID, shareProcessNamespace, activeDeadlineSeconds: deadline } = spec;
  const at = `${path}.securityContext`;
  const causes = [
    ...validateUserAndGroup(securityContext, at),
    ...idCauses(securityContext.fsGroup, `${at}.fsGroup`),
    ...(securityContext.supplementalGroups ?? []).flatMap((id, index) =>
      idCauses(id, `${at}.supplementalGroups[${index}]`),
    ),
    ...validateSysctls(spec, `${at}.sysctls`),
    ...validateProfiles(securityContext, at),
    ...validateOwnUsers(spec, path),
  ];
  if (hostPID && shareProcessNamespace) {
    const why = 'ShareProcessNamespace and HostPID cannot both be enabled';
    causes.push(invalidCause(`${path}.shareProcessNamespace`, true, why));
  }
  if (deadline !== undefined && (deadline < 1 || deadline > maxId)) {
    const why = `must be between 1 and ${maxId}, inclusive`;
    causes.push(invalidCause(`${path}.activeDeadlineSeconds`, deadline, why));
  }
  return causes;
}

/** Validates one container: contradictory settings are rejected. */
export function validateContainerSecurity(
  { securityContext = {} }: Pick<Container, 'securityContext'>,
  { hostUsers }: Pick<PodSpec, 'hostUsers'>,
  path: string,
): StatusCause[] {
  const causes = [...validateUserAndGroup(securityContext, path), ...validateProfiles(securityContext, path)];
  if (securityContext.procMount === 'Unmasked' && hostUsers !== false) {
    const why = '`hostUsers` must be false to use `Unmasked`';
    causes.push(invalidCause(`${path}.procMount`, securityContext.procMount, why));
  }
  const { allowPrivilegeEscalation, privileged, capabilities } = securityContext;
  if (allowPrivilegeEscalation !== false) return causes;
  const cannot = 'cannot set `allowPrivilegeEscalation` to false and ';
  if (privileged) causes.push(invalidCause(path, securityContext, `${cannot}\`privileged\` to true`));
  if (capabilities?.add?.some((name) => name === 'CAP_SYS_ADMIN')) {
    causes.push(invalidCause(path, securityContext, `${cannot}\`capabilities.Add\` CAP_SYS_ADMIN`));
  }
  return causes;
}

/** Validates the ids in the securityContext of a pod or a container. */
function validateUserAndGroup(
  context: { runAsUser?: number | undefined; runAsGroup?: number | undefined } | undefined,
  path: string,
): StatusCause[] {
  return (['runAsUser', 'runAsGroup'] as const).flatMap((field) =>
    idCauses(context?.[field], `${path}.${field}`),
  );
}

function idCauses(id: number | undefined, path: string): StatusCause[] {
  if (id === undefined || (id >= 0 && id <= maxId)) return [];
  return [invalidCause(path, id, `must be between 0 and ${maxId}, inclusive`)];
}

const isSysctlName = (name: string) => name.length <= maxSysctlLength && sysctlName.test(name);

/** Field of a pod with which it uses the host's namespace, by the namespace of a sysctl. */
const hostNamespaceField: Readonly<Record<string, 'hostNetwork' | 'hostIPC'>> = {
  Net: 'hostNetwork',
  IPC: 'hostIPC',
};

function validateSysctls(spec: PodSpec, path: string): StatusCause[] {
  const seen = new Set<string>();
  return (spec.securityContext.sysctls ?? []).flatMap(({ name }, index) => {
    const at = `${path}[${index}].name`;
    const again = seen.has(name);
    seen.add(name);
    if (name === '') return [requiredCause(at)];
    if (!isSysctlName(name)) {
      const why = `must have at most ${maxSysctlLength} characters and match regex ${sysctlName.source}`;
      return [invalidCause(at, name, why)];
    }
    const causes = again ? [duplicateCause(at, name)] : [];
    const field = hostNamespaceField[sysctlNamespace(dottedSysctl(name)) ?? ''];
    return field && spec[field]
      ? [...causes, invalidCause(at, name, `may not be specified when '${field}' is true`)]
      : causes;
  });
}

interface Profiles {
  readonly seccompProfile?: SeccompProfile | undefined;
  readonly appArmorProfile?: AppArmorProfile | undefined;
}

/**
 * Validates the profiles in the securityContext of a pod or a container: a profile of the machine has a name,
 * any other has none.
 */
function validateProfiles({ seccompProfile, appArmorProfile }: Profiles, path: string): StatusCause[] {
  return [
    ...(seccompProfile
      ? validateProfile(seccompProfile, 'seccomp', `${path}.seccompProfile`, validateSeccompPath)
      : []),
    ...(appArmorProfile
      ? validateProfile(appArmorProfile, 'AppArmor', `${path}.appArmorProfile`, validateAppArmorName)
      : []),
  ];
}

function validateProfile(
  { type, localhostProfile }: SeccompProfile | AppArmorProfile,
  what: string,
  path: string,
  validateName: (name: string, path: string, why: string) => StatusCause[],
): StatusCause[] {
  const at = `${path}.localhostProfile`;
  const why = `must be set when ${what} type is Localhost`;
  if (type !== 'Localhost')
    return localhostProfile === undefined
      ? []
      : [invalidCause(at, localhostProfile, `can only be set when ${what} type is Localhost`)];
  return localhostProfile === undefined ? [requiredCause(at, why)] : validateName(localhostProfile, at, why);
}

/** Validates a path, which is relative to the agent's own directory of profiles. */
function validateSeccompPath(file: string, path: string): StatusCause[] {
  const causes = file.startsWith('/') ? [invalidCause(path, file, 'must be a relative path')] : [];
  return [...causes, ...backsteps(file, path)];
}

function validateAppArmorName(name: string, path: string, why: string): StatusCause[] {
  const causes = name.length > maxProfileLength ? [tooLongCause(path, maxProfileLength)] : [];
  if (name.trim() !== name)
    return [invalidCause(path, name, 'must not be padded with whitespace'), ...causes];
  return name === '' ? [requiredCause(path, why)] : causes;
}

/** Rejects a user namespace of the pod in combination with namespaces of the machine. */
function validateOwnUsers(spec: PodSpec, path: string): StatusCause[] {
  if (spec.hostUsers !== false) return [];
  return (['hostNetwork', 'hostPID', 'hostIPC'] as const)
    .filter((field) => spec[field])
    .map((field) => forbiddenCause(`${path}.${field}`, 'when `pod.Spec.HostUsers` is false'));
}

/**
 * Validates the names of scheduling gates, and rejects a node name in combination with gates, which keep a
 * pod from every node.
 */
export function validateSchedulingGates(spec: PodSpec, path: string): StatusCause[] {
  const gates = spec.schedulingGates ?? [];
  if (gates.length === 0) return [];
  const names = gates.map(({ name }) => name);
  const repeated = repeats(names);
  const why = 'cannot be set until all schedulingGates have been cleared';
  return [
    ...names.flatMap((name, index) => {
      const at = `${path}.schedulingGates[${index}]`;
      return [
        ...nameCauses(at, name, checkQualifiedName),
        ...(repeated[index] ? [duplicateCause(at, name)] : []),
      ];
    }),
    ...(spec.nodeName ? [forbiddenCause(`${path}.nodeName`, why)] : []),
  ];
}
