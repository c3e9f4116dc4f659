/** The parts of a schema that have rules, compiled once for each schema. Pure. */

import type { Steps } from '../../../apimachinery/steps.ts';
import {
  innerSchemas,
  isEmbedded,
  type StructuralSchema,
  type ValidationRule,
} from '../../../apimachinery/structural-schema/schema.ts';
import { typeOfSchema } from '../../../cel/kubernetes/schema-type.ts';
import { dyn, type Type } from '../../../cel/types/type.ts';
import { type CompiledRule, compileRules, Refusal } from './compiled-rules.ts';

/** A schema that has rules, or in which others have. */
export interface RuledSchema {
  readonly schema: StructuralSchema;
  readonly type: Type;
  readonly rules: readonly CompiledRule[];
  /** Schemas of fields and items that have rules. */
  readonly inner: ReadonlyMap<StructuralSchema, RuledSchema>;
}

const known = new WeakMap<StructuralSchema, { readonly ruled: RuledSchema | undefined }>();

/**
 * Returns the rules of a schema; undefined if there are none. With `isObject`, its values are objects of the
 * API.
 */
export function* ruledSchema(schema: StructuralSchema, isObject: boolean): Steps<RuledSchema | undefined> {
  const before = known.get(schema);
  if (before) return before.ruled;
  const ruled = yield* make(schema, isObject);
  known.set(schema, { ruled });
  return ruled;
}

function* make(schema: StructuralSchema, isObject: boolean): Steps<RuledSchema | undefined> {
  const inner = yield* innerRules(schema);
  const rules = schema['x-kubernetes-validations'] ?? [];
  if (rules.length === 0) return inner.size > 0 ? { schema, type: dyn, rules: [], inner } : undefined;
  const type = typeOfSchema(schema, 'self', isObject);
  if (type) return { schema, type, rules: yield* compileRules(schema, type), inner };
  return { schema, type: dyn, rules: rules.map(untyped), inner };
}

function* innerRules(schema: StructuralSchema): Steps<ReadonlyMap<StructuralSchema, RuledSchema>> {
  const all = new Map<StructuralSchema, RuledSchema>();
  for (const [inner] of innerSchemas(schema, '')) {
    const ruled = yield* ruledSchema(inner, isEmbedded(inner));
    if (ruled) all.set(inner, ruled);
    yield;
  }
  return all;
}

/** A rule for values that expressions cannot see is broken by all of them: definitions may not have such. */
const untyped = (rule: ValidationRule): CompiledRule => ({
  rule,
  program: new Refusal('unable to convert structural schema to CEL declarations'),
  usesOldSelf: false,
  fieldPath: '',
});
