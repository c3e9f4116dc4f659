/** Rules of what a pod asks of the kernel for its safety (upstream: validatePodSpecSecurityContext, validateSysctls). */
import {
  duplicateCause,
  forbiddenCause,
  invalidCause,
  requiredCause,
} from '../../../apimachinery/field-error.ts';
import type { StatusCause } from '../../../apimachinery/status-error.ts';
import type { Container, PodSpec } from './types.gen.ts';

const largestId = 2147483647;
const longestSysctl = 253;
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
    ...validateSysctls(securityContext.sysctls ?? [], `${at}.sysctls`),
  ];
  if (hostPID && shareProcessNamespace) {
    const why = 'ShareProcessNamespace and HostPID cannot both be enabled';
    causes.push(invalidCause(`${path}.shareProcessNamespace`, true, why));
  }
  if (deadline !== undefined && (deadline < 1 || deadline > largestId)) {
    const why = `must be between 1 and ${largestId}, inclusive`;
    causes.push(invalidCause(`${path}.activeDeadlineSeconds`, deadline, why));
  }
  return causes;
}

/** Rules for one container: contradictory settings are refused. */
export function validateContainerSecurity({ securityContext }: Container, path: string): StatusCause[] {
  const causes = validateUserAndGroup(securityContext, path);
  const { allowPrivilegeEscalation, privileged, capabilities } = securityContext ?? {};
  if (allowPrivilegeEscalation !== false) return causes;
  const cannot = 'cannot set `allowPrivilegeEscalation` to false and ';
  if (privileged) causes.push(invalidCause(path, securityContext, `${cannot}\`privileged\` to true`));
  if (capabilities?.add?.some((name) => name === 'CAP_SYS_ADMIN')) {
    causes.push(invalidCause(path, securityContext, `${cannot}\`capabilities.Add\` CAP_SYS_ADMIN`));
  }
  return causes;
}

/** Of a pod's or a container's securityContext. */
function validateUserAndGroup(
  context: { runAsUser?: number | undefined; runAsGroup?: number | undefined } | undefined,
  path: string,
): StatusCause[] {
  return (['runAsUser', 'runAsGroup'] as const).flatMap((field) =>
    idCauses(context?.[field], `${path}.${field}`),
  );
}

function idCauses(id: number | undefined, path: string): StatusCause[] {
  if (id === undefined || (id >= 0 && id <= largestId)) return [];
  return [invalidCause(path, id, `must be between 0 and ${largestId}, inclusive`)];
}

function validateSysctls(
  sysctls: NonNullable<PodSpec['securityContext']['sysctls']>,
  path: string,
): StatusCause[] {
  const seen = new Set<string>();
  return sysctls.flatMap(({ name }, index) => {
    const at = `${path}[${index}].name`;
    const again = seen.has(name);
    seen.add(name);
    if (name === '') return [requiredCause(at)];
    if (name.length > longestSysctl || !sysctlName.test(name)) {
      const why = `must have at most ${longestSysctl} characters and match regex ${sysctlName.source}`;
      return [invalidCause(at, name, why)];
    }
    return again ? [duplicateCause(at, name)] : [];
  });
}

/** Gates hold a pod back from every node, so it cannot have one at the same time. */
export function validateSchedulingGates(spec: PodSpec, path: string): StatusCause[] {
  const gates = spec.schedulingGates ?? [];
  if (gates.length === 0 || !spec.nodeName) return [];
  const why = 'cannot be set until all schedulingGates have been cleared';
  return [forbiddenCause(`${path}.nodeName`, why)];
}
