/**
 * What may change in a pod that exists (upstream: ValidatePodUpdate): images, an additional toleration, a shorter
 * deadline. Everything else would need another pod. Binding a pod to its node is not such an update: it has its own
 * subresource and does not pass through here.
 */
import { deepEqual } from '../../../apimachinery/equality.ts';
import { forbiddenCause, invalidCause } from '../../../apimachinery/field-error.ts';
import type { StatusCause } from '../../../apimachinery/status-error.ts';
import type { Pod } from './pod.ts';
import type { PodSpec, Toleration } from './pod-spec.ts';

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
  return [
    ...onlyAddedTolerations(spec.tolerations ?? [], old.spec.tolerations ?? []),
    ...shorterDeadline(deadline(spec), deadline(old.spec)),
    ...unchanged(spec, old.spec),
  ];
}

function onlyAddedTolerations(tolerations: readonly Toleration[], old: readonly Toleration[]): StatusCause[] {
  const kept = (one: Toleration) =>
    tolerations.some((other) => deepEqual({ ...other, tolerationSeconds: one.tolerationSeconds }, one));
  if (old.every(kept)) return [];
  const why = 'existing toleration can not be modified except its tolerationSeconds';
  return [forbiddenCause('spec.tolerations', why)];
}

function deadline(spec: PodSpec): number | undefined {
  const value = 'activeDeadlineSeconds' in spec ? spec.activeDeadlineSeconds : undefined;
  return typeof value === 'number' ? value : undefined;
}

function shorterDeadline(seconds: number | undefined, old: number | undefined): StatusCause[] {
  const path = 'spec.activeDeadlineSeconds';
  if (seconds === undefined)
    return old === undefined
      ? []
      : [invalidCause(path, null, 'must not update from a positive integer to nil value')];
  if (seconds < 0 || seconds > 2147483647)
    return [invalidCause(path, seconds, 'must be between 0 and 2147483647, inclusive')];
  return old !== undefined && seconds > old
    ? [invalidCause(path, seconds, 'must be less than or equal to previous value')]
    : [];
}

function unchanged(spec: PodSpec, old: PodSpec): StatusCause[] {
  const before = fixedFields(old);
  const after = fixedFields(spec);
  const changed = Object.keys({ ...before, ...after }).filter((key) => !deepEqual(before[key], after[key]));
  if (changed.length === 0) return [];
  const fields = changed.map((key) => `spec.${key}`).join(', ');
  return [
    forbiddenCause('spec', `pod updates may not change fields other than ${changeable}\nchanged: ${fields}`),
  ];
}

function fixedFields(spec: PodSpec): Record<string, unknown> {
  const { containers, tolerations: _tolerations, ...rest } = spec;
  const fixed: Record<string, unknown> = { ...rest, containers: containers.map(withoutImage) };
  if (Array.isArray(fixed.initContainers)) fixed.initContainers = fixed.initContainers.map(withoutImage);
  delete fixed.activeDeadlineSeconds;
  return fixed;
}

const withoutImage = (container: object) => ({ ...container, image: undefined });
