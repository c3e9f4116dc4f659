/**
 * Rules of init containers, which run before the other containers, or beside them (upstream:
 * validateInitContainers).
 */
import { duplicateCause, forbiddenCause, notSupportedCause } from '../../../../apimachinery/field-error.ts';
import type { StatusCause } from '../../../../apimachinery/status-error.ts';
import type { Container, PodSpec } from '../types.gen.ts';
import { validateLifecycle } from './handler-validation.ts';
import { initContainersOf, isSidecar } from './init-containers.ts';
import { validateContainer, validateHostPorts, validateName } from './validation.ts';

export function validateInitContainers(spec: PodSpec, path: string): StatusCause[] {
  const names = new Set(spec.containers.map(({ name }) => name));
  return initContainersOf(spec).flatMap((container, index) => {
    const at = `${path}[${index}]`;
    const { name, restartPolicy } = container;
    const causes = [
      ...validateName(name, new Set(), `${at}.name`),
      ...(names.has(name) ? [duplicateCause(`${at}.name`, name)] : []),
      ...validateContainer(container, spec, at),
      ...(restartPolicy !== undefined && restartPolicy !== 'Always'
        ? [notSupportedCause(`${at}.restartPolicy`, restartPolicy, ['Always'])]
        : []),
      // Init containers run one after the other, so that each may use the same port.
      ...validateHostPorts(container, new Set(), `${at}.ports`),
      ...(isSidecar(container) ? hooks(container, spec, at) : withoutServing(container, at)),
    ];
    if (name) names.add(name);
    return causes;
  });
}

const hooks = ({ lifecycle }: Container, spec: PodSpec, path: string) =>
  lifecycle ? validateLifecycle(lifecycle, spec, `${path}.lifecycle`) : [];

const ofServing = ['lifecycle', 'livenessProbe', 'readinessProbe', 'startupProbe'] as const;

/** Rejects probes and hooks of a container that ends before the others start. */
const withoutServing = (container: Container, path: string): StatusCause[] =>
  ofServing
    .filter((field) => container[field] !== undefined)
    .map((field) =>
      forbiddenCause(`${path}.${field}`, 'may not be set for init containers without restartPolicy=Always'),
    );
