/** Checks of the parts of a version in a CustomResourceDefinition, in upstream's words. Pure. */
import {
  duplicateCause,
  invalidCause,
  requiredCause,
  tooManyCause,
} from '../../../apimachinery/field-error.ts';
import type { StatusCause } from '../../../apimachinery/status-error.ts';
import type { Steps } from '../../../apimachinery/steps.ts';
import { schemaCauses } from '../../../apimachinery/structural-schema/definition-causes.ts';
import { fieldAtPath } from '../../../apimachinery/structural-schema/field-path.ts';
import type { WrittenSchema } from '../../../apimachinery/structural-schema/schema.ts';
import { definitionRuleCauses } from '../rules/definition-rules.ts';
import type { CustomResourceColumnDefinition, CustomResourceDefinitionVersion } from './types.gen.ts';

type Version = CustomResourceDefinitionVersion;

/** Returns the causes of a deprecation warning; `path` is the version's. */
export function deprecationCauses({ deprecated, deprecationWarning }: Version, path: string): StatusCause[] {
  if (deprecationWarning === undefined) return [];
  const wrong = (why: string) => invalidCause(`${path}.deprecationWarning`, deprecationWarning, why);
  if (!deprecated) return [wrong('can only be set for deprecated versions')];
  const at = [...deprecationWarning].findIndex((letter) => /[\p{C}\p{Z}]/u.test(letter) && letter !== ' ');
  const printable = 'must only contain printable UTF-8 characters';
  return [
    ...(Buffer.byteLength(deprecationWarning) > 256 ? [wrong('must be <= 256 characters long')] : []),
    ...(deprecationWarning === '' ? [wrong('must not be an empty string')] : []),
    ...(at < 0 ? [] : [wrong(`${printable}; non-printable character found at index ${at}`)]),
  ];
}

/** Returns the causes of a schema; `path` is that of the part, such as `spec.validation`. */
export function* schemaPartCauses({ schema, subresources }: Version, path: string): Steps<StatusCause[]> {
  const written = schema?.openAPIV3Schema as WrittenSchema | undefined;
  const hasStatus = subresources?.status !== undefined;
  return written
    ? yield* schemaCauses(written, `${path}.openAPIV3Schema`, { hasStatus, checkRules: definitionRuleCauses })
    : [];
}

/** Returns the causes of `/scale`; paths are named as upstream names them. */
export function subresourceCauses({ subresources }: Version, path: string): StatusCause[] {
  const { scale } = subresources ?? {};
  if (!scale) return [];
  const selector = scale.labelSelectorPath;
  return [
    ...scalePathCauses(`${path}.scale.specReplicasPath`, scale.specReplicasPath, ['.spec.'], 'under .spec'),
    ...scalePathCauses(
      `${path}.scale.statusReplicasPath`,
      scale.statusReplicasPath,
      ['.status.'],
      'under .status',
    ),
    ...(selector
      ? scalePathCauses(
          `${path}.scale.labelSelectorPath`,
          selector,
          ['.spec.', '.status.'],
          'under either .spec or .status',
        )
      : []),
  ];
}

function scalePathCauses(
  path: string,
  value: string | undefined,
  roots: readonly string[],
  where: string,
): StatusCause[] {
  if (!value) return [requiredCause(path)];
  if (!value.startsWith('.'))
    return [invalidCause(path, value, 'must be a simple json path starting with .')];
  if (roots.some((root) => value.startsWith(root))) return [];
  return [invalidCause(path, value, `should be a json path ${where}`)];
}

const columnTypes = ['boolean', 'date', 'integer', 'number', 'string'];
const columnFormats = ['byte', 'date', 'date-time', 'double', 'float', 'int32', 'int64', 'password'];

export const columnCauses = ({ additionalPrinterColumns = [] }: Version, path: string): StatusCause[] =>
  additionalPrinterColumns.flatMap((column, index) => oneColumnCauses(column, `${path}[${index}]`));

function oneColumnCauses(column: CustomResourceColumnDefinition, path: string): StatusCause[] {
  const { name, type, format, jsonPath } = column;
  const types = `must be one of ${columnTypes.join(',')}`;
  const causes: StatusCause[] = [];
  if (!name) causes.push(requiredCause(`${path}.name`));
  if (!type) causes.push(requiredCause(`${path}.type`, types));
  else if (!columnTypes.includes(type)) causes.push(invalidCause(`${path}.type`, type, types));
  if (format && !columnFormats.includes(format))
    causes.push(invalidCause(`${path}.format`, format, `must be one of ${columnFormats.join(',')}`));
  if (!jsonPath) causes.push(requiredCause(`${path}.JSONPath`));
  else if (!jsonPath.startsWith('.'))
    causes.push(invalidCause(`${path}.JSONPath`, jsonPath, 'must be a simple json path starting with .'));
  return causes;
}

const maxSelectableFields = 8;
const selectableTypes = ['string', 'boolean', 'integer'];

export function selectableFieldCauses(
  { selectableFields = [], schema }: Version,
  path: string,
): StatusCause[] {
  if (selectableFields.length > 0 && !schema?.openAPIV3Schema)
    return [invalidCause(path, '', 'selectableFields may only be set when validations.schema is included')];
  const seen = new Set<string>();
  const causes = selectableFields.flatMap(({ jsonPath }, index) => {
    const repeated = jsonPath !== undefined && seen.has(jsonPath);
    if (jsonPath) seen.add(jsonPath);
    const at = `${path}[${index}].jsonPath`;
    const wrong = selectableCauses(jsonPath, at, schema?.openAPIV3Schema as WrittenSchema);
    return repeated ? [...wrong, duplicateCause(at, jsonPath)] : wrong;
  });
  return seen.size > maxSelectableFields
    ? [...causes, tooManyCause(path, seen.size, maxSelectableFields)]
    : causes;
}

function selectableCauses(jsonPath: string | undefined, at: string, schema: WrittenSchema): StatusCause[] {
  if (!jsonPath) return [requiredCause(at)];
  const found = fieldAtPath(jsonPath, schema, false);
  if ('error' in found) return [invalidCause(at, jsonPath, `is an invalid path: ${found.error}`)];
  return [
    ...(/^\.metadata(\.|$)/.test(jsonPath)
      ? [invalidCause(at, jsonPath, 'must not point to fields in metadata')]
      : []),
    ...(found.schema.type && selectableTypes.includes(found.schema.type)
      ? []
      : [invalidCause(at, jsonPath, selectable)]),
  ];
}

const selectable = `must point to a field of type ${selectableTypes.join(', ').replace(/, (\w+)$/, ' or $1')}. Enum string fields and strings with formats are allowed.`;
