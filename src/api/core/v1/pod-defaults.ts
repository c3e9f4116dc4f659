/**
 * Defaults of pods and pod templates that depend on other fields (upstream: pkg/apis/core/v1/defaults.go). A
 * template gets only those whose outcome cannot change with the pod that is made of it; a pod gets all. All are
 * idempotent.
 */
import type { Pod } from './pod.ts';
import type { Container, PodSpec, PodTemplateSpec, Volume } from './pod-spec.ts';

export function setPodDefaults(pod: Pod): void {
  setPodSpecDefaults(pod.spec);
  for (const container of pod.spec.containers) {
    defaultRequestsToLimits(container);
    if (pod.spec.hostNetwork) defaultHostPorts(container);
  }
}

export function setPodTemplateDefaults(template: PodTemplateSpec): void {
  setPodSpecDefaults(template.spec);
}

function setPodSpecDefaults(spec: PodSpec): void {
  for (const container of spec.containers) container.imagePullPolicy ??= pullPolicyFor(container.image);
  for (const volume of spec.volumes ?? []) if (!hasVolumeSource(volume)) volume.emptyDir = {};
}

/** A volume has its name and one key for its source, whether or not the source is one that the agent mounts. */
export function volumeSources(volume: Volume): string[] {
  return Object.entries(volume)
    .filter(([key, value]) => key !== 'name' && value !== undefined && value !== null)
    .map(([key]) => key);
}

const hasVolumeSource = (volume: Volume) => volumeSources(volume).length > 0;

/** `Always` for the tag latest, written or implied: what it names changes. A digest alone never does. */
export function pullPolicyFor(image: string): 'Always' | 'IfNotPresent' {
  const [name = '', digest] = image.split('@');
  const lastPart = name.slice(name.lastIndexOf('/') + 1);
  const colon = lastPart.indexOf(':');
  if (colon < 0) return digest === undefined ? 'Always' : 'IfNotPresent';
  return lastPart.slice(colon + 1) === 'latest' ? 'Always' : 'IfNotPresent';
}

function defaultRequestsToLimits({ resources }: Container): void {
  if (resources.limits) resources.requests = { ...resources.limits, ...resources.requests };
}

/** On the host's network the port of the container is the port of the host. */
function defaultHostPorts(container: Container): void {
  for (const port of container.ports ?? []) port.hostPort ||= port.containerPort;
}
