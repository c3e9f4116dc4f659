/**
 * Changes that are allowed on an existing pod (upstream: ValidatePodUpdate): images, an additional
 * toleration, a shorter deadline, fewer scheduling gates. Other changes require a new pod. Binding a pod to
 * its node is not an update: it uses its own subresource, to which these rules do not apply.
 */
import { deepEqual, identityOf } from '../../../../apimachinery/equality.ts';
import { forbiddenCause, invalidCause } from '../../../../apimachinery/field-error.ts';
import type { StatusCause } from '../../../../apimachinery/status-error.ts';
import { initContainersOf } from '../container/init-containers.ts';
import type { Pod, PodSpec, Toleration } from '../types.gen.ts';

const changeable = [
  '`spec.containers[*].image`',
  '`spec.initContainers[*].image`',
  '`spec.activeDeadlineSeconds`',
  '`spec.tolerations` (only additions to existing tolerations)',
  '`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)',
].join(',');

export function validatePodUpdate(pod: Pod, old: Pod): StatusCause[] {
  const { spec } = pod;
  if (spec.containers.length !== old.spec.containers.length)
    return [forbiddenCause('spec.containers', 'pod updates may not add or remove containers')];
  if (initContainersOf(spec).length !== initContainersOf(old.spec).length)
    return [forbiddenCause('spec.initContainers', 'pod updates may not add or remove containers')];
  return [
    ...onlyAddedTolerations(spec.tolerations ?? [], old.spec.tolerations ?? []),
    ...onlyRemovedGates(spec.schedulingGates ?? [], old.spec.schedulingGates ?? []),
    ...shorterDeadline(spec.activeDeadlineSeconds, old.spec.activeDeadlineSeconds),
    ...unchanged(spec, old.spec),
  ];
}

function onlyAddedTolerations(tolerations: readonly Toleration[], old: readonly Toleration[]): StatusCause[] {
  const idOf = (one: Toleration) => identityOf({ ...one, tolerationSeconds: undefined });
  const kept = new Set(tolerations.map(idOf));
  if (old.every((one) => kept.has(idOf(one)))) return [];
  const why = 'existing toleration can not be modified except its tolerationSeconds';
  return [forbiddenCause('spec.tolerations', why)];
}

type Gates = NonNullable<PodSpec['schedulingGates']>;

function onlyRemovedGates(gates: Gates, old: Gates): StatusCause[] {
  const before = new Set(old.map(({ name }) => name));
  return gates.flatMap(({ name }, index) => {
    if (before.has(name)) return [];
    const why = `only deletion is allowed, but found new scheduling gate '${name}'`;
    return [forbiddenCause(`spec.schedulingGates[${index}].name`, why)];
  });
}

function shorterDeadline(seconds: number | undefined, old: number | undefined): StatusCause[] {
  const path = 'spec.activeDeadlineSeconds';
  if (seconds === undefined)
    return old === undefined
      ? []
      : [invalidCause(path, null, 'must not update from a positive integer to nil value')];
  return old !== undefined && seconds > old
    ? [invalidCause(path, seconds, 'must be less than or equal to previous value')]
    : [];
}

function unchanged(spec: PodSpec, old: PodSpec): StatusCause[] {
  const before = fixedFields(old);
  const after = fixedFields(spec);
  // A negative period may be replaced with its effective value.
  if (old.terminationGracePeriodSeconds < 0 && spec.terminationGracePeriodSeconds === 1)
    after.terminationGracePeriodSeconds = old.terminationGracePeriodSeconds;
  const changed = Object.keys({ ...before, ...after }).filter((key) => !deepEqual(before[key], after[key]));
  if (changed.length === 0) return [];
  const fields = changed.map((key) => `spec.${key}`).join(', ');
  return [
    forbiddenCause('spec', `pod updates may not change fields other than ${changeable}\nchanged: ${fields}`),
  ];
}

function fixedFields(spec: PodSpec): Record<string, unknown> {
  const { containers, tolerations: _tolerations, schedulingGates: _gates, ...rest } = spec;
  const fixed: Record<string, unknown> = { ...rest, containers: containers.map(withoutImage) };
  if (Array.isArray(fixed.initContainers)) fixed.initContainers = fixed.initContainers.map(withoutImage);
  delete fixed.activeDeadlineSeconds;
  return fixed;
}

const withoutImage = (container: object) => ({ ...container, image: undefined });
