/** Rules of claims (upstream: ValidatePersistentVolumeClaimSpec, …Update, …StatusUpdate). */
import { deepCopy, deepEqual } from '../../../../apimachinery/equality.ts';
import {
  forbiddenCause,
  invalidCause,
  notSupportedCause,
  requiredCause,
} from '../../../../apimachinery/field-error.ts';
import {
  checkDns1123Label,
  checkDns1123Subdomain,
  checkQualifiedName,
  nameCauses,
} from '../../../../apimachinery/names.ts';
import { compareQuantities, tryParseQuantity, zeroQuantity } from '../../../../apimachinery/quantity.ts';
import type { StatusCause } from '../../../../apimachinery/status-error.ts';
import { validateLabelSelector } from '../../../meta/v1/label-selector.ts';
import type {
  PersistentVolumeClaim,
  PersistentVolumeClaimSpec,
  TypedLocalObjectReference,
  TypedObjectReference,
} from '../types.gen.ts';
import { classAnnotation } from './columns.ts';
import { positiveQuantity, validateAccessModes } from './persistent-volume-validation.ts';

/** Validates the spec of a claim or of a claim template. */
export function validateClaimSpec(spec: PersistentVolumeClaimSpec, path: string): StatusCause[] {
  const { storageClassName = '', dataSource, dataSourceRef } = spec;
  const size = spec.resources.requests?.storage;
  const at = `${path}.resources[storage]`;
  return [
    ...validateAccessModes(spec.accessModes, `${path}.accessModes`, 'at least 1 access mode is required'),
    ...(spec.selector ? validateLabelSelector(spec.selector, `${path}.selector`) : []),
    ...(size === undefined ? [requiredCause(at)] : positiveQuantity(size, at)),
    ...(storageClassName === ''
      ? []
      : nameCauses(`${path}.storageClassName`, storageClassName, checkDns1123Subdomain)),
    ...(dataSource ? validateSource(dataSource, `${path}.dataSource`) : []),
    ...(dataSourceRef ? validateSource(dataSourceRef, `${path}.dataSourceRef`) : []),
    ...validateBothSources(dataSource, dataSourceRef, path),
  ];
}

function validateSource(
  { apiGroup = '', kind, name, ...more }: TypedLocalObjectReference | TypedObjectReference,
  path: string,
): StatusCause[] {
  const namespace = ('namespace' in more && more.namespace) || '';
  const ownKind = "must be 'PersistentVolumeClaim' when referencing the default apiGroup";
  return [
    ...(name === '' ? [requiredCause(`${path}.name`)] : []),
    ...(kind === '' ? [requiredCause(`${path}.kind`)] : []),
    ...(apiGroup === '' && kind !== 'PersistentVolumeClaim' ? [invalidCause(path, kind, ownKind)] : []),
    ...(apiGroup === '' ? [] : nameCauses(`${path}.apiGroup`, apiGroup, checkDns1123Subdomain)),
    ...(namespace === '' ? [] : nameCauses(`${path}.namespace`, namespace, checkDns1123Label)),
  ];
}

function validateBothSources(
  source: TypedLocalObjectReference | undefined,
  ref: TypedObjectReference | undefined,
  path: string,
): StatusCause[] {
  if (!source || !ref) return [];
  const why = ref.namespace
    ? 'may not be specified when dataSourceRef.namespace is specified'
    : 'must match dataSourceRef';
  const { namespace: _, ...same } = ref;
  if (!ref.namespace && deepEqual(source, same)) return [];
  return [invalidCause(path, `${path}.dataSource`, why)];
}

/**
 * Validates an update: an unbound claim may be bound, a bound claim may grow, everything else is immutable.
 */
export function validateClaimUpdate(claim: PersistentVolumeClaim, old: PersistentVolumeClaim): StatusCause[] {
  const causes = classChangeCauses(claim, old);
  if (!deepEqual(comparedSpec(claim, old), old.spec)) {
    const why =
      'spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims';
    causes.push(forbiddenCause('spec', why));
  }
  if (isBelowCapacity(claim, old))
    causes.push(
      forbiddenCause('spec.resources.requests.storage', 'field can not be less than status.capacity'),
    );
  if (claim.spec.volumeMode !== old.spec.volumeMode)
    causes.push(invalidCause('volumeMode', claim.spec.volumeMode, 'field is immutable'));
  return causes;
}

/** Returns the new specification with the changeable fields reset to their old values. */
function comparedSpec({ spec, status }: PersistentVolumeClaim, old: PersistentVolumeClaim) {
  const compared = deepCopy(spec);
  const annotation = old.metadata.annotations?.[classAnnotation];
  if (!old.spec.volumeName) compared.volumeName = old.spec.volumeName;
  const namesClass = spec.storageClassName !== undefined && old.spec.storageClassName === undefined;
  if (namesClass && (annotation === undefined || annotation === spec.storageClassName))
    compared.storageClassName = undefined;
  const before = old.spec.resources.requests?.storage;
  if (status?.phase === 'Bound' && compared.resources.requests && before !== undefined)
    compared.resources.requests.storage = before;
  return compared;
}

/** Rejects changes of the annotation; it may be removed when the field has the same value. */
function classChangeCauses({ metadata, spec }: PersistentVolumeClaim, old: PersistentVolumeClaim) {
  const [now, before] = [
    metadata.annotations?.[classAnnotation],
    old.metadata.annotations?.[classAnnotation],
  ];
  if (now === before) return [];
  const moved =
    now === undefined && old.spec.storageClassName === undefined && spec.storageClassName === before;
  if (moved) return [];
  return [invalidCause(`metadata.annotations.${classAnnotation}`, now ?? '', 'field is immutable')];
}

function isBelowCapacity({ spec }: PersistentVolumeClaim, old: PersistentVolumeClaim): boolean {
  const amount = (text = '0') => tryParseQuantity(text) ?? zeroQuantity;
  const size = amount(spec.resources.requests?.storage);
  return (
    compareQuantities(size, amount(old.spec.resources.requests?.storage)) < 0 &&
    compareQuantities(size, amount(old.status?.capacity?.storage)) <= 0
  );
}

const resizeStatuses = [
  'ControllerResizeInProgress',
  'ControllerResizeInfeasible',
  'NodeResizeInProgress',
  'NodeResizeInfeasible',
  'NodeResizePending',
];

export function validateClaimStatus({ status = { phase: 'Pending' } }: PersistentVolumeClaim): StatusCause[] {
  const { capacity = {}, allocatedResources = {}, allocatedResourceStatuses = {} } = status;
  const resizePath = 'status.allocatedResourceStatus';
  return [
    ...Object.entries(capacity).flatMap(([name, amount]) => notNegative(amount, `status.capacity[${name}]`)),
    ...Object.entries(allocatedResourceStatuses).flatMap(([name, state]) => [
      ...resourceCauses(name, resizePath),
      ...(resizeStatuses.includes(state) ? [] : [notSupportedCause(resizePath, name, resizeStatuses)]),
    ]),
    ...Object.entries(allocatedResources).flatMap(([name, amount]) => {
      const wrong = resourceCauses(name, 'status.allocatedResources');
      return wrong.length > 0 ? wrong : notNegative(amount, `status.allocatedResources[${name}]`);
    }),
  ];
}

function notNegative(amount: string, path: string): StatusCause[] {
  const negative = (tryParseQuantity(amount)?.nano ?? 0n) <= -1_000_000_000n;
  return negative ? [invalidCause(path, amount, 'must be a valid resource quantity')] : [];
}

/**
 * Validates a resource name. Storage is the only allowed resource of Kubernetes; a driver may have others.
 */
function resourceCauses(name: string, path: string): StatusCause[] {
  const causes = nameCauses(path, name, checkQualifiedName);
  if (causes.length > 0) return causes;
  const native = !name.includes('/') || name.includes('kubernetes.io/');
  return native && name !== 'storage' ? [notSupportedCause(path, name, ['storage'])] : [];
}
