/** Validation of an object by its schema, in upstream's words. */
import { forbiddenCause } from '../field-error.ts';
import type { StatusCause } from '../status-error.ts';
import { embeddedCauses } from './embedded-resources.ts';
import { listTypeCauses } from './list-type-causes.ts';
import type { StructuralSchema } from './schema.ts';
import { maxSteps, TooManySteps, validate } from './schema-validator.ts';

export interface ValueOptions {
  /** The value that this one replaces: its parts that did not change are let through. */
  readonly old?: unknown;
  /** Prefix of the causes' fields, such as the path of a default in a definition. */
  readonly base?: string;
}

/**
 * Returns the problems of a value, a little over a hundred at most. Example: for the schema
 * `{type: 'object', properties: {size: {type: 'integer', maximum: 3}}}` and `{size: 4}`, the message is
 * `Invalid value: 4: size in body should be less than or equal to 3`.
 */
export function valueCauses(
  value: unknown,
  schema: StructuralSchema,
  options: ValueOptions = {},
): StatusCause[] {
  const { old, base = '' } = options;
  return [
    ...schemaValidationCauses(value, schema, options),
    ...embeddedCauses(value, schema, base),
    // A list that had duplicates before may keep them.
    ...(old !== undefined && listTypeCauses(old, schema).length > 0
      ? []
      : listTypeCauses(value, schema, base)),
  ];
}

/** Returns the problems that the value validations of the schema find. */
function schemaValidationCauses(
  value: unknown,
  schema: StructuralSchema,
  { old, base = '' }: ValueOptions,
): StatusCause[] {
  const place = { path: '', run: { base, steps: 0 }, ...(old !== undefined && { old: { value: old } }) };
  try {
    return validate(value, schema, place).causes.map((cause) => cause());
  } catch (error) {
    if (!(error instanceof TooManySteps)) throw error;
    return [
      forbiddenCause(
        base,
        `validation takes more than ${maxSteps} steps: use shorter lists or a simpler schema`,
      ),
    ];
  }
}
