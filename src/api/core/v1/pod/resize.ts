/**
 * Resizing of CPU and memory for the containers of a running pod. pods/NAME/resize only changes these and the
 * resize policy (upstream: podResizeStrategy, ValidatePodResize).
 */
import { deepEqual } from '../../../../apimachinery/equality.ts';
import { forbiddenCause, invalidCause } from '../../../../apimachinery/field-error.ts';
import type { PartRules } from '../../../../apimachinery/resource-definition.ts';
import type { StatusCause } from '../../../../apimachinery/status-error.ts';
import { initContainersOf, isSidecar } from '../container/init-containers.ts';
import type { Container, Pod } from '../types.gen.ts';
import { mirrorAnnotation } from './annotations.ts';
import { setPodDefaults } from './defaults.ts';
import { qosClassOf } from './qos.ts';
import { validatePodSpec } from './template-validation.ts';

/** Resources that can be changed while a container runs. */
export const resizable = ['cpu', 'memory'] as const;

export const resizePart: PartRules<Pod> = {
  countsGeneration: true,
  take(kept, wanted) {
    for (const container of inTurn(kept)) {
      const asked = inTurn(wanted).find(({ name }) => name === container.name);
      if (!asked) continue;
      container.resources = asked.resources;
      if (asked.resizePolicy) container.resizePolicy = asked.resizePolicy;
      else delete container.resizePolicy;
    }
    setPodDefaults(kept);
  },
  validate: validateResize,
};

function validateResize(pod: Pod, old: Pod): StatusCause[] {
  const refusal = cannotResize(old);
  if (refusal !== undefined) return [forbiddenCause('', refusal)];
  const causes = validatePodSpec(pod.spec, 'spec', { template: false });
  const qosClass = old.status?.qosClass ?? qosClassOf(old.spec);
  if (qosClass !== qosClassOf(pod.spec))
    causes.push(invalidCause('spec', qosClass, 'Pod QOS Class may not change as a result of resizing'));
  if (!isRunWithResize(old))
    causes.push(forbiddenCause('spec', 'Pod running on node without support for resize'));
  const changes = pod.spec.containers.flatMap((container, index) => {
    const before = old.spec.containers[index];
    return before ? containerCauses(container, before, `spec.containers[${index}].resources`) : [];
  });
  return [...causes, ...changes, ...initCauses(pod, old)];
}

/** Rejects changes of init containers other than sidecars. */
function initCauses(pod: Pod, old: Pod): StatusCause[] {
  return initContainersOf(pod.spec).flatMap((container, index) => {
    const before = old.spec.initContainers?.[index];
    if (!before) return [];
    if (isSidecar(before))
      return containerCauses(container, before, `spec.initContainers[${index}].resources`);
    return deepEqual(container, before)
      ? []
      : [forbiddenCause('spec', 'resources for non-sidecar init containers are immutable')];
  });
}

const inTurn = ({ spec }: Pod): readonly Container[] => [...initContainersOf(spec), ...spec.containers];

function cannotResize({ metadata, spec }: Pod): string | undefined {
  if (spec.resources && Object.keys(spec.resources).length > 0)
    return 'pods with pod-level resources cannot be resized';
  if (metadata.annotations?.[mirrorAnnotation] !== undefined) return 'static pods cannot be resized';
  return spec.os?.name === 'windows' ? 'windows pods cannot be resized' : undefined;
}

/** Returns true if the pod's node supports resizing: it then reports the resources of running containers. */
function isRunWithResize({ status }: Pod): boolean {
  const running = status?.containerStatuses?.find(({ state }) => state?.running);
  return !running || running.resources !== undefined;
}

function containerCauses(container: Container, old: Container, path: string): StatusCause[] {
  return (['requests', 'limits'] as const).flatMap((field) => {
    const [wanted, before] = [container.resources?.[field] ?? {}, old.resources?.[field] ?? {}];
    const removed = Object.keys(before).some((name) => !Object.hasOwn(wanted, name));
    return [
      ...(removed ? [forbiddenCause(`${path}.${field}`, `resource ${field} cannot be removed`)] : []),
      ...(deepEqual(others(wanted), others(before))
        ? []
        : [forbiddenCause('spec', `only cpu and memory resources are mutable\nchanged: ${path}.${field}`)]),
    ];
  });
}

const others = (amounts: Readonly<Record<string, string>>) =>
  Object.fromEntries(Object.entries(amounts).filter(([name]) => !resizable.some((one) => one === name)));
