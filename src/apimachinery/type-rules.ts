/** What minik8s adds to the types of Kubernetes: which fields it acts on, their defaults, choices and limits. */
import type { Field, ObjectType } from './field-types.ts';

/** What a writer is told of a field that is kept and has no effect. */
export const notActedOnField = (path: string) => `${path}: known to Kubernetes, not acted on by minik8s`;

/** Of one type, wherever it stands. Names of fields are separated by blanks. */
export interface TypeRules {
  /** The fields that minik8s acts on; all when this is left out. Others are kept, and answered with a warning. */
  readonly acts?: string;
  /** Fields acted on that must be given, beside those that Kubernetes' type requires. */
  readonly requires?: string;
  /** Fields that Kubernetes' type requires and its validation does not. */
  readonly mayLack?: string;
  /** Constants for fields that are absent; what they contain has its own defaults. */
  readonly defaults?: Readonly<Record<string, unknown>>;
  /** The values of a text, where Kubernetes' type does not name them or has others; none for any text. */
  readonly choices?: Readonly<Record<string, readonly string[]>>;
  /** The least and the greatest value of a number; no greatest one when it is left out. */
  readonly limits?: Readonly<Record<string, Limits>>;
  /** Values of fields not acted on that ask for nothing; `any` for every value. */
  readonly quiet?: Readonly<Record<string, readonly unknown[] | 'any'>>;
}

/** Both are allowed values. */
export type Limits = readonly [least: number, greatest?: number];

/** By the name of the type, such as `core.v1.PodSpec`. What is in a type without rules is kept as it is. */
export type RulesByType = Readonly<Record<string, TypeRules>>;

/** What the rules of a type say of one of its fields. */
export interface FieldRule {
  readonly acts: boolean;
  readonly mandatory: boolean;
  readonly default?: unknown;
  readonly quiet?: readonly unknown[] | 'any';
  readonly limits?: Limits;
}

/** The field with what the rules say of it. Every object is of a kind, in a version, and has metadata. */
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

/** The fields of a type that are there after decoding even when they were not sent: mandatory ones, and defaults. */
export function completedFields(type: ObjectType): readonly Field[] {
  const known = completed.get(type);
  if (known) return known;
  const fields = [...type.fields.values()].filter(
    ({ rule }) => rule?.mandatory || rule?.default !== undefined,
  );
  completed.set(type, fields);
  return fields;
}
