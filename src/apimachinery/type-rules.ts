/**
 * Rules that minik8s adds to the types of Kubernetes: the fields that it acts on, their defaults, choices and
 * limits.
 */
import type { Field, Limits, ObjectType } from './field-types.ts';

/** Returns the warning for a field that is kept and has no effect. */
export const notActedOnField = (path: string) => `${path}: known to Kubernetes, not acted on by minik8s`;

/** The rules of one type, wherever it is used. Names of fields are separated by blanks. */
export interface TypeRules {
  /** Fields that minik8s acts on; default: all. Other fields are kept and cause a warning. */
  readonly acts?: string;
  /** Required fields among those acted on, in addition to those that Kubernetes' type requires. */
  readonly requires?: string;
  /** Fields that Kubernetes' type requires and its validation does not require. */
  readonly mayLack?: string;
  /** Constant values for absent fields; the fields inside such a value get their own defaults. */
  readonly defaults?: Readonly<Record<string, unknown>>;
  /**
   * Values of a text field, where Kubernetes' type does not list them or lists others; an empty list allows
   * any text.
   */
  readonly choices?: Readonly<Record<string, readonly string[]>>;
  /** Minimum and maximum of a number; the maximum is optional. */
  readonly limits?: Readonly<Record<string, Limits>>;
  /** Values of fields not acted on that cause no warning; `any` for every value. */
  readonly quiet?: Readonly<Record<string, readonly unknown[] | 'any'>>;
}

/** Rules by type name, such as `core.v1.PodSpec`. The content of a type without rules is kept unchanged. */
export type RulesByType = Readonly<Record<string, TypeRules>>;

/**
 * Returns the field with its rules. Every object has a kind, a version and metadata, so these are always
 * acted on.
 */
export function ruledField(field: Field, rules: TypeRules): Field {
  const { name } = field;
  const listed = (names: string | undefined) => names?.split(' ').includes(name) ?? false;
  const acts = rules.acts === undefined || objectFields.has(name) || listed(rules.acts);
  const choices = rules.choices?.[name] ?? field.choices;
  const quiet = rules.quiet?.[name];
  const limits = rules.limits?.[name];
  return {
    ...field,
    ...(choices && { choices: choices.length > 0 ? choices : undefined }),
    rule: {
      acts,
      mandatory: acts && !listed(rules.mayLack) && (field.required || listed(rules.requires)),
      ...(rules.defaults && Object.hasOwn(rules.defaults, name) && { default: rules.defaults[name] }),
      ...(quiet !== undefined && { quiet }),
      ...(limits && { limits }),
    },
  };
}

const objectFields: ReadonlySet<string> = new Set(['apiVersion', 'kind', 'metadata']);

const completed = new WeakMap<ObjectType, readonly Field[]>();

/**
 * Returns the fields of a type that exist after decoding even when they were not sent: mandatory ones, and
 * those with defaults.
 */
export function completedFields(type: ObjectType): readonly Field[] {
  const known = completed.get(type);
  if (known) return known;
  const fields = [...type.fields.values()].filter(
    ({ rule }) => rule?.mandatory || rule?.default !== undefined,
  );
  completed.set(type, fields);
  return fields;
}
