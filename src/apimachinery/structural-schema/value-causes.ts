/** Validation of an object by its schema, in upstream's words. */
import { forbiddenCause } from '../field-error.ts';
import type { StatusCause } from '../status-error.ts';
import type { Steps } from '../steps.ts';
import { embeddedCauses } from './embedded-resources.ts';
import { listTypeCauses } from './list-type-causes.ts';
import type { StructuralSchema } from './schema.ts';
import { maxSteps, TooManySteps, validate } from './schema-validator.ts';
import { Matches, pausedMatching } from './text-matches.ts';

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
export function* valueCauses(
  value: unknown,
  schema: StructuralSchema,
  options: ValueOptions = {},
): Steps<StatusCause[]> {
  const { old, base = '' } = options;
  return [
    ...(yield* schemaValidationCauses(value, schema, options)),
    ...embeddedCauses(value, schema, base),
    // A list that had duplicates before may keep them.
    ...(old !== undefined && listTypeCauses(old, schema).length > 0
      ? []
      : listTypeCauses(value, schema, base)),
  ];
}

/**
 * Returns the problems that the value validations of the schema find. Begins again after a pause; results of
 * patterns are kept.
 */
function* schemaValidationCauses(
  value: unknown,
  schema: StructuralSchema,
  { old, base = '' }: ValueOptions,
): Steps<StatusCause[]> {
  const matches = new Matches();
  for (;;) {
    const run = { base, steps: 0, matches };
    const place = { path: '', run, ...(old !== undefined && { old: { value: old } }) };
    try {
      return validate(value, schema, place).causes.map((cause) => cause());
    } catch (error) {
      if (error instanceof TooManySteps)
        return [
          forbiddenCause(
            base,
            `validation takes more than ${maxSteps} steps: use shorter lists or a simpler schema`,
          ),
        ];
      if (error !== pausedMatching) throw error;
    }
    yield;
    matches.beginSlice();
  }
}
