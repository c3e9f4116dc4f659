/**
 * Rules of the specification of a volume (upstream: ValidatePersistentVolumeSpec,
 * ValidatePersistentVolumeUpdate).
 */
import { deepEqual } from '../../../../apimachinery/equality.ts';
import {
  forbiddenCause,
  invalidCause,
  notSupportedCause,
  requiredCause,
} from '../../../../apimachinery/field-error.ts';
import { checkDns1123Subdomain, nameCauses } from '../../../../apimachinery/names.ts';
import { tryParseQuantity } from '../../../../apimachinery/quantity.ts';
import type { StatusCause } from '../../../../apimachinery/status-error.ts';
import { newerLabels } from '../deprecated-labels.ts';
import { validateTerm } from '../node/affinity-validation.ts';
import type { PersistentVolumeSpec, VolumeNodeAffinity } from '../types.gen.ts';
import { sourceOf, validateSources } from './persistent-volume-sources.ts';

export const accessModes = ['ReadOnlyMany', 'ReadWriteMany', 'ReadWriteOnce', 'ReadWriteOncePod'];

/** Validates access modes: all must be known, and the mode for a single pod must be the only one. */
export function validateAccessModes(
  modes: readonly string[] | undefined,
  path: string,
  why?: string,
): StatusCause[] {
  if (!modes?.length) return [requiredCause(path, why)];
  const causes = modes
    .filter((mode) => !accessModes.includes(mode))
    .map((mode) => notSupportedCause(path, mode, accessModes));
  const known = modes.filter((mode) => accessModes.includes(mode));
  const singles = known.filter((mode) => mode === 'ReadWriteOncePod');
  if (singles.length > 0 && singles.length < known.length)
    causes.push(forbiddenCause(path, 'may not use ReadWriteOncePod with other access modes'));
  return causes;
}

export function positiveQuantity(text: string, path: string): StatusCause[] {
  const quantity = tryParseQuantity(text);
  return quantity && quantity.nano > 0n ? [] : [invalidCause(path, text, 'must be greater than zero')];
}

export function validateVolumeSpec(spec: PersistentVolumeSpec, path: string, name: string): StatusCause[] {
  const { storageClassName = '', nodeAffinity } = spec;
  return [
    ...validateAccessModes(spec.accessModes, `${path}.accessModes`),
    ...validateCapacity(spec.capacity, `${path}.capacity`),
    ...(nodeAffinity ? validateAffinity(nodeAffinity, `${path}.nodeAffinity`) : []),
    ...validateSources(spec, path, name),
    ...(spec.local && !nodeAffinity
      ? [requiredCause(`${path}.nodeAffinity`, 'Local volume requires node affinity')]
      : []),
    ...noRootRecycling(spec, path),
    ...(storageClassName === ''
      ? []
      : nameCauses(`${path}.storageClassName`, storageClassName, checkDns1123Subdomain)),
  ];
}

function validateCapacity(capacity: Readonly<Record<string, string>> = {}, path: string): StatusCause[] {
  const names = Object.keys(capacity);
  return [
    ...(names.length === 0 ? [requiredCause(path)] : []),
    ...(names.length === 1 && names[0] === 'storage' ? [] : [notSupportedCause(path, capacity, ['storage'])]),
    ...Object.entries(capacity).flatMap(([name, amount]) => capacityCauses(amount, `${path}[${name}]`)),
  ];
}

function capacityCauses(amount: string, path: string): StatusCause[] {
  const negative = (tryParseQuantity(amount)?.nano ?? 0n) <= -1_000_000_000n;
  const why = 'must be a valid resource quantity';
  return [...(negative ? [invalidCause(path, amount, why)] : []), ...positiveQuantity(amount, path)];
}

function validateAffinity({ required }: VolumeNodeAffinity, path: string): StatusCause[] {
  if (!required) return [requiredCause(`${path}.required`, 'must specify required node constraints')];
  const terms = `${path}.required.nodeSelectorTerms`;
  if (required.nodeSelectorTerms.length === 0)
    return [requiredCause(terms, 'must have at least one node selector term')];
  return required.nodeSelectorTerms.flatMap((term, index) =>
    validateTerm(term, `${terms}[${index}]`, { anyValue: true }),
  );
}

function noRootRecycling({ hostPath, persistentVolumeReclaimPolicy }: PersistentVolumeSpec, path: string) {
  const isRoot = hostPath !== undefined && /^\/[/.]*$/.test(hostPath.path);
  if (!isRoot || persistentVolumeReclaimPolicy !== 'Recycle') return [];
  const why = "may not be 'recycle' for a hostPath mount of '/'";
  return [forbiddenCause(`${path}.persistentVolumeReclaimPolicy`, why)];
}

/** Validates a volume that is inline in another object: it is a CSI volume and has no claim. */
export function validateInlineSpec(spec: PersistentVolumeSpec, path: string): StatusCause[] {
  const { capacity = {}, persistentVolumeReclaimPolicy: policy = 'Retain', volumeMode = 'Filesystem' } = spec;
  const context = 'in the context of inline volumes';
  const refuse = (field: string, wrong: boolean, why = 'may not be specified') =>
    wrong ? [forbiddenCause(`${path}.${field}`, `${why} ${context}`)] : [];
  return [
    ...refuse('claimRef', spec.claimRef !== undefined),
    ...refuse('capacity', Object.keys(capacity).length > 0),
    ...(spec.csi ? [] : [requiredCause(`${path}.csi`, `has to be specified ${context}`)]),
    ...validateAccessModes(spec.accessModes, `${path}.accessModes`),
    ...refuse('persistentVolumeReclaimPolicy', policy !== 'Retain', 'may only be Retain'),
    ...refuse('nodeAffinity', spec.nodeAffinity !== undefined),
    ...validateSources(spec, path, ''),
    ...refuse('storageClassName', Boolean(spec.storageClassName)),
    ...refuse('volumeMode', volumeMode !== 'Filesystem', 'may not specify volumeMode other than Filesystem'),
  ];
}

/** Validates an update: the source is immutable, except that a secret for expansion may be added. */
export function validateVolumeUpdate(spec: PersistentVolumeSpec, old: PersistentVolumeSpec): StatusCause[] {
  const causes: StatusCause[] = [];
  const { csi } = spec;
  const mayName = csi && old.csi && !old.csi.controllerExpandSecretRef;
  const compared = mayName ? { ...spec, csi: { ...csi, controllerExpandSecretRef: undefined } } : spec;
  if (!deepEqual(sourceOf(compared), sourceOf(old)))
    causes.push(
      forbiddenCause(
        'spec.persistentvolumesource',
        'spec.persistentvolumesource is immutable after creation',
      ),
    );
  if (spec.volumeMode !== old.volumeMode)
    causes.push(invalidCause('volumeMode', spec.volumeMode, 'field is immutable'));
  if (old.nodeAffinity && !deepEqual(spec.nodeAffinity, movedLabels(old, spec)))
    causes.push(
      invalidCause(
        'nodeAffinity',
        spec.nodeAffinity,
        'field is immutable, except for updating from beta label to GA',
      ),
    );
  return causes;
}

/**
 * Returns the old affinity, with labels renamed where the new affinity has the newer name in the same place.
 */
function movedLabels({ nodeAffinity: old }: PersistentVolumeSpec, { nodeAffinity }: PersistentVolumeSpec) {
  if (!old?.required) return old;
  const nodeSelectorTerms = old.required.nodeSelectorTerms.map((term, index) => {
    const wanted = nodeAffinity?.required?.nodeSelectorTerms[index]?.matchExpressions;
    const matchExpressions = term.matchExpressions?.map((expression, at) => {
      const key = wanted?.[at]?.key;
      return key !== undefined && newerLabels[expression.key] === key ? { ...expression, key } : expression;
    });
    return { ...term, matchExpressions };
  });
  return { ...old, required: { ...old.required, nodeSelectorTerms } };
}
