/** Rules of the containers of a pod or of a pod template (upstream: validateContainers). */
import {
  duplicateCause,
  forbiddenCause,
  invalidCause,
  requiredCause,
} from '../../../../apimachinery/field-error.ts';
import {
  checkDns1123Label,
  checkPortName,
  checkPortNumber,
  nameCauses,
} from '../../../../apimachinery/names.ts';
import type { StatusCause } from '../../../../apimachinery/status-error.ts';
import { canonicalAddress } from '../../../../base/addresses.ts';
import { checkIPAddress } from '../../../ip.ts';
import { validateContainerSecurity } from '../pod/security-validation.ts';
import type { Container, ContainerPort, PodSpec } from '../types.gen.ts';
import { validateVolumeDevices } from '../volume/claim-volume-validation.ts';
import { validateVolumeMounts } from '../volume/validation.ts';
import { validateEnv, validateEnvFrom } from './env-validation.ts';
import { validateLifecycle } from './handler-validation.ts';
import { validateProbes } from './probe-validation.ts';
import { validateResizePolicy } from './resize-policy.ts';
import { validateResources } from './resource-validation.ts';

export interface PodRules {
  /** True for a template, which may omit fields that its pods get by default. */
  readonly template: boolean;
}

export function validateContainers(spec: PodSpec, path: string, rules: PodRules): StatusCause[] {
  if (spec.containers.length === 0) return [requiredCause(path)];
  const names = new Set<string>();
  const hostPorts = new Set<string>();
  return spec.containers.flatMap((container, index) => {
    const at = `${path}[${index}]`;
    const causes = [
      ...validateName(container.name, names, `${at}.name`),
      ...validateContainer(container, spec, at),
      ...validateHostPorts(container, hostPorts, `${at}.ports`),
      ...(spec.hostNetwork ? hostNetworkPorts(container, `${at}.ports`, rules) : []),
      ...(container.lifecycle ? validateLifecycle(container.lifecycle, spec, `${at}.lifecycle`) : []),
      ...(container.restartPolicy === undefined
        ? []
        : [forbiddenCause(`${at}.restartPolicy`, 'may not be set for non-init containers')]),
    ];
    names.add(container.name);
    return causes;
  });
}

export function validateName(name: string, seen: ReadonlySet<string>, path: string): StatusCause[] {
  if (!name) return [requiredCause(path)];
  const causes = nameCauses(path, name, checkDns1123Label);
  return seen.has(name) ? [...causes, duplicateCause(path, name)] : causes;
}

export function validateContainer(container: Container, spec: PodSpec, path: string): StatusCause[] {
  return [
    ...validateImage(container.image, `${path}.image`),
    ...validatePorts(container.ports ?? [], `${path}.ports`),
    ...validateEnv(container.env ?? [], `${path}.env`),
    ...validateEnvFrom(container.envFrom ?? [], `${path}.envFrom`),
    ...validateVolumeMounts(
      container.volumeMounts ?? [],
      spec.volumes ?? [],
      container.securityContext?.privileged ?? false,
      `${path}.volumeMounts`,
    ),
    ...validateVolumeDevices(container, spec.volumes ?? [], `${path}.volumeDevices`),
    ...validateResources(container.resources, `${path}.resources`),
    ...validateResizePolicy(container.resizePolicy ?? [], spec.restartPolicy, `${path}.resizePolicy`),
    ...validateContainerSecurity(container, spec, `${path}.securityContext`),
    ...validateProbes(container, spec.terminationGracePeriodSeconds, path),
  ];
}

function validateImage(image: string, path: string): StatusCause[] {
  if (!image) return [requiredCause(path)];
  return image === image.trim()
    ? []
    : [invalidCause(path, image, 'must not have leading or trailing whitespace')];
}

function validatePorts(ports: readonly ContainerPort[], path: string): StatusCause[] {
  const names = new Set<string>();
  return ports.flatMap((port, index) => {
    const at = `${path}[${index}]`;
    const causes: StatusCause[] = [];
    if (port.name) {
      causes.push(...nameCauses(`${at}.name`, port.name, checkPortName));
      if (names.has(port.name)) causes.push(duplicateCause(`${at}.name`, port.name));
      names.add(port.name);
    }
    if (port.containerPort === 0) causes.push(requiredCause(`${at}.containerPort`));
    else causes.push(...portCauses(port.containerPort, `${at}.containerPort`));
    if (port.hostPort) causes.push(...portCauses(port.hostPort, `${at}.hostPort`));
    if (port.hostIP) causes.push(...nameCauses(`${at}.hostIP`, port.hostIP, checkIPAddress));
    return causes;
  });
}

const portCauses = (port: number, path: string) =>
  checkPortNumber(port).map((problem) => invalidCause(path, port, problem));

/** Rejects a host port that another container of the pod uses. */
export function validateHostPorts(container: Container, seen: Set<string>, path: string): StatusCause[] {
  return (container.ports ?? []).flatMap((port, index) => {
    if (!port.hostPort) return [];
    const address = canonicalAddress(port.hostIP ?? '') ?? '';
    const taken = `${port.protocol}/${address}/${port.hostPort}`;
    if (seen.has(taken)) return [duplicateCause(`${path}[${index}].hostPort`, taken)];
    seen.add(taken);
    return [];
  });
}

function hostNetworkPorts(container: Container, path: string, rules: PodRules): StatusCause[] {
  return (container.ports ?? []).flatMap((port, index) => {
    if (rules.template && !port.hostPort) return [];
    if (port.hostPort === port.containerPort) return [];
    const why = 'must match `hostPort` when `hostNetwork` is true';
    return [invalidCause(`${path}[${index}].containerPort`, port.containerPort, why)];
  });
}
