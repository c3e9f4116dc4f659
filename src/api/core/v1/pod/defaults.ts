/**
 * Defaults of pods and pod templates that are not constants of the schema. A template gets only defaults that
 * do not depend on the pod created from it; a pod gets all. All defaults are idempotent.
 */
import { fillDefaults } from '../../../../apimachinery/type-defaults.ts';
import { kubernetesFields } from '../../../field-table.ts';
import type { Container, Pod, PodSpec, PodTemplateSpec } from '../types.gen.ts';
import { podSpecDefaults } from './spec-defaults.ts';

export function setPodDefaults(pod: Pod): void {
  const { spec } = pod;
  setPodSpecDefaults(spec);
  spec.enableServiceLinks ??= true;
  for (const container of [...spec.containers, ...(spec.initContainers ?? [])]) {
    defaultRequestsToLimits(container);
    if (spec.hostNetwork) defaultHostPorts(container);
  }
}

export function setPodTemplateDefaults(template: PodTemplateSpec): void {
  setPodSpecDefaults(template.spec);
}

const podSpecType = kubernetesFields.typeOf('core.v1.PodSpec');

function setPodSpecDefaults(spec: PodSpec): void {
  if (podSpecType) fillDefaults(spec, podSpecType, podSpecDefaults);
}

function defaultRequestsToLimits({ resources }: Container): void {
  if (resources.limits) resources.requests = { ...resources.limits, ...resources.requests };
}

/** Sets the host port to the container port, for a pod on the host's network. */
function defaultHostPorts(container: Container): void {
  for (const port of container.ports ?? []) port.hostPort ||= port.containerPort;
}
