/** Rules of StorageClasses (upstream: ValidateStorageClass, ValidateStorageClassUpdate). */
import { deepEqual, identityOf, repeats } from '../../../apimachinery/equality.ts';
import {
  duplicateCause,
  forbiddenCause,
  invalidCause,
  requiredCause,
  tooLongCause,
} from '../../../apimachinery/field-error.ts';
import { checkQualifiedName, nameCauses } from '../../../apimachinery/names.ts';
import type { StatusCause } from '../../../apimachinery/status-error.ts';
import type { TopologySelectorTerm } from '../../core/v1/types.gen.ts';
import type { StorageClass } from './types.gen.ts';

const maxParameters = 512;
const maxParameterBytes = 256 * 1024;

export function validateStorageClass({ provisioner, parameters, allowedTopologies = [] }: StorageClass) {
  return [
    ...validateProvisioner('provisioner', provisioner),
    ...validateParameters(parameters ?? {}),
    ...validateTopologies(allowedTopologies),
  ];
}

/** Validates the name of the program or driver to which a class belongs. */
export const validateProvisioner = (path: string, provisioner: string): StatusCause[] =>
  provisioner === ''
    ? [requiredCause(path)]
    : nameCauses(path, provisioner.toLowerCase(), checkQualifiedName);

/** Validates the `parameters` of a class: how many they are, their size, and that each has a name. */
export function validateParameters(parameters: Readonly<Record<string, string>>): StatusCause[] {
  const entries = Object.entries(parameters);
  if (entries.length > maxParameters) return [tooLongCause('parameters', maxParameters)];
  const causes = Object.hasOwn(parameters, '')
    ? [invalidCause('parameters', '', 'field can not be empty.')]
    : [];
  const bytes = entries.reduce((sum, texts) => sum + Buffer.byteLength(texts.join('')), 0);
  if (bytes > maxParameterBytes) causes.push(tooLongCause('parameters', maxParameterBytes));
  return causes;
}

/** Rejects terms with the same meaning, in any order; an empty term counts as a duplicate. */
function validateTopologies(terms: readonly TopologySelectorTerm[]): StatusCause[] {
  const seen = new Set([identityOf([])]);
  return terms.flatMap((term, index) => {
    const path = `allowedTopologies[${index}].matchLabelExpressions`;
    const identity = identityOf(meaningOf(term));
    const causes = validateExpressions(term, path);
    if (seen.has(identity)) causes.push(duplicateCause(path, ''));
    seen.add(identity);
    return causes;
  });
}

const meaningOf = ({ matchLabelExpressions = [] }: TopologySelectorTerm) =>
  matchLabelExpressions
    .map(({ key, values }) => [key, ...[...new Set(values)].sort()])
    .sort(([a = ''], [b = '']) => (a < b ? -1 : 1));

function validateExpressions({ matchLabelExpressions = [] }: TopologySelectorTerm, path: string) {
  const keys = new Set<string>();
  return matchLabelExpressions.flatMap(({ key, values }, index) => {
    const at = `${path}[${index}]`;
    const repeated = repeats(values);
    const twice = values.flatMap((value, place) =>
      repeated[place] ? [duplicateCause(`${at}.values[${place}]`, value)] : [],
    );
    const causes = [
      ...(values.length === 0 ? [requiredCause(`${at}.values`)] : []),
      ...twice,
      ...nameCauses(`${at}.key`, key, checkQualifiedName),
      ...(keys.has(key) ? [duplicateCause(`${at}.key`, key)] : []),
    ];
    keys.add(key);
    return causes;
  });
}

export function validateStorageClassUpdate(object: StorageClass, old: StorageClass): StatusCause[] {
  const forbidden = (['parameters', 'provisioner', 'reclaimPolicy'] as const)
    .filter((field) => !deepEqual(object[field], old[field]))
    .map((field) => forbiddenCause(field, `updates to ${field} are forbidden.`));
  if (object.volumeBindingMode === old.volumeBindingMode) return forbidden;
  return [...forbidden, invalidCause('volumeBindingMode', object.volumeBindingMode, 'field is immutable')];
}
