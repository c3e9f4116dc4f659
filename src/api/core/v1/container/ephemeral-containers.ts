/**
 * Ephemeral containers are added to a running pod for debugging and stay until it is deleted. Their
 * subresource adds them; they are never changed or removed (upstream: validateEphemeralContainers,
 * ValidatePodEphemeralContainersUpdate).
 */
import { deepEqual } from '../../../../apimachinery/equality.ts';
import { forbiddenCause, notFoundCause } from '../../../../apimachinery/field-error.ts';
import type { PartRules } from '../../../../apimachinery/resource-definition.ts';
import type { StatusCause } from '../../../../apimachinery/status-error.ts';
import { mirrorAnnotation } from '../pod/annotations.ts';
import { setPodDefaults } from '../pod/defaults.ts';
import type { Container, EphemeralContainer, Pod, PodSpec } from '../types.gen.ts';
import { initContainersOf } from './init-containers.ts';
import { validateContainer, validateName } from './validation.ts';

export const ephemeralContainersOf = ({ ephemeralContainers = [] }: PodSpec): readonly EphemeralContainer[] =>
  ephemeralContainers;

/** Returns a container of any type: names are unique within the pod. */
export const findContainer = (spec: PodSpec, name: string): Container | EphemeralContainer | undefined =>
  [...spec.containers, ...initContainersOf(spec), ...ephemeralContainersOf(spec)].find(
    (container) => container.name === name,
  );

/** Fields that are rejected, since ephemeral containers do not serve and have no guaranteed resources. */
const refusedFields = [
  'ports',
  'resources',
  'resizePolicy',
  'restartPolicy',
  'restartPolicyRules',
  'livenessProbe',
  'readinessProbe',
  'startupProbe',
  'lifecycle',
] as const;
const cannotBeSet = 'cannot be set for an Ephemeral Container';
const listPath = 'spec.ephemeralContainers';

export const ephemeralContainersPart: PartRules<Pod> = {
  countsGeneration: true,
  take(kept, wanted) {
    kept.spec.ephemeralContainers = wanted.spec.ephemeralContainers;
    setPodDefaults(kept);
  },
  validate(pod, old) {
    if (old.metadata.annotations?.[mirrorAnnotation] !== undefined) {
      return [forbiddenCause('', 'static pods do not support ephemeral containers')];
    }
    return [...validateEphemeralContainers(pod.spec), ...onlyAdded(pod.spec, old.spec)];
  },
};

export const withoutEphemeralContainers = ({ spec }: Pod): StatusCause[] =>
  ephemeralContainersOf(spec).length === 0 ? [] : [forbiddenCause(listPath, 'cannot be set on create')];

export function validateEphemeralContainers(spec: PodSpec): StatusCause[] {
  const targets = new Set([...spec.containers, ...initContainersOf(spec)].map(({ name }) => name));
  const names = new Set(targets);
  return ephemeralContainersOf(spec).flatMap((container, index) => {
    const path = `${listPath}[${index}]`;
    const { targetContainerName: target } = container;
    const causes = [
      ...validateName(container.name, names, `${path}.name`),
      ...validateContainer(container, spec, path),
      ...(target && !targets.has(target) ? [notFoundCause(`${path}.targetContainerName`, target)] : []),
      ...refusedFields.flatMap((field) =>
        asksNothing(container[field]) ? [] : [forbiddenCause(`${path}.${field}`, cannotBeSet)],
      ),
      ...subPaths(container, path),
    ];
    names.add(container.name);
    return causes;
  });
}

const asksNothing = (value: unknown) =>
  value === undefined ||
  value === '' ||
  (typeof value === 'object' && deepEqual(value, {})) ||
  deepEqual(value, []);

function subPaths({ volumeMounts = [] }: EphemeralContainer, path: string): StatusCause[] {
  return volumeMounts.flatMap((mount, index) =>
    (['subPath', 'subPathExpr'] as const).flatMap((field) =>
      mount[field] ? [forbiddenCause(`${path}.volumeMounts[${index}].${field}`, cannotBeSet)] : [],
    ),
  );
}

/** Rejects changes and removals; a patch may change the order. */
function onlyAdded(spec: PodSpec, old: PodSpec): StatusCause[] {
  const wanted = new Map(ephemeralContainersOf(spec).map((container) => [container.name, container]));
  return ephemeralContainersOf(old).flatMap((before) => {
    const after = wanted.get(before.name);
    if (after && deepEqual(after, before)) return [];
    const what = after ? 'changed' : 'removed';
    return [
      forbiddenCause(
        listPath,
        `existing ephemeral containers ${JSON.stringify(before.name)} may not be ${what}`,
      ),
    ];
  });
}
