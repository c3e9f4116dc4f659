/** Reads a valibot schema as data: its fields, types and choices. No other module looks inside a schema. */
import type { GenericSchema } from 'valibot';
import { describedType } from './described-types.ts';
import {
  any,
  type Field,
  type FieldTable,
  type FieldType,
  lazyObjectType,
  type ObjectType,
  requiredType,
} from './field-types.ts';
import type { ResourceDefinition } from './resource-definition.ts';
import { objectMetaSchema } from './schema.ts';

/** A step of a pipe. The first one is the schema that the others follow; it may have a pipe of its own. */
interface PipeStep {
  readonly type: string;
  readonly requirement?: unknown;
  readonly description?: unknown;
  readonly pipe?: readonly PipeStep[];
}

/** Parts of a schema's object that are read here, for all kinds of schema. */
interface SchemaNode {
  readonly type: string;
  readonly entries?: Readonly<Record<string, SchemaNode>>;
  readonly item?: SchemaNode;
  readonly value?: SchemaNode;
  readonly wrapped?: SchemaNode;
  readonly default?: unknown;
  readonly options?: readonly unknown[];
  readonly literal?: unknown;
  readonly pipe?: readonly PipeStep[];
  readonly getter?: (input: unknown) => SchemaNode;
}

/** A schema as the values that it accepts. */
export type SchemaView =
  | { readonly kind: 'object'; readonly entries: ReadonlyMap<string, SchemaEntry> }
  | { readonly kind: 'list'; readonly items: Schema }
  | { readonly kind: 'map'; readonly values: Schema }
  | { readonly kind: 'choice'; readonly choices: readonly string[] }
  | { readonly kind: 'scalar'; readonly type: FieldType }
  | { readonly kind: 'any' };

export type Schema = GenericSchema | SchemaNode;

export interface SchemaEntry {
  readonly schema: Schema;
  readonly required: boolean;
  /** The default, when it is a constant. */
  readonly default: unknown;
}

const wrappers = new Set(['optional', 'nullish', 'nullable', 'undefinedable', 'exact_optional']);
const objects = new Set(['object', 'loose_object', 'strict_object', 'object_with_rest']);

export function viewSchema(schema: Schema): SchemaView {
  const node = unwrap(schema);
  if (objects.has(node.type)) return { kind: 'object', entries: entriesOf(node) };
  switch (node.type) {
    case 'array':
      return { kind: 'list', items: node.item ?? anyNode };
    case 'record':
      return { kind: 'map', values: node.value ?? anyNode };
    case 'picklist':
    case 'enum':
      return { kind: 'choice', choices: (node.options ?? []).map(String) };
    case 'literal':
      return { kind: 'choice', choices: [String(node.literal)] };
    case 'string':
      return { kind: 'scalar', type: { kind: 'scalar', scalar: 'string' } };
    case 'boolean':
      return { kind: 'scalar', type: { kind: 'scalar', scalar: 'bool' } };
    case 'number':
      return { kind: 'scalar', type: { kind: 'scalar', scalar: numberScalar(node) } };
    case 'union':
      return viewUnion((node.options ?? []) as SchemaNode[]);
    case 'any':
    case 'unknown':
      return { kind: 'any' };
    default:
      throw new Error(`a field of the schema type ${node.type} cannot be served`);
  }
}

/**
 * Returns the fields of a kind: from its own object type if there is one, else from its own types or its
 * schema, else from the table.
 */
export function objectTypeOf(
  definition: Pick<ResourceDefinition, 'typeName' | 'kind' | 'objectType' | 'schema' | 'types' | 'rules'>,
  table: FieldTable,
): ObjectType {
  const { typeName, kind, schema, objectType, types, rules = {} } = definition;
  if (objectType) return objectType;
  if (types) return describedType(types, typeName, rules, table);
  if (!schema) return requiredType(table, typeName);
  const known = fromSchemas.get(schema);
  if (known) return known;
  const made = Object.assign(objectTypeFromSchema(kind, schema, table), descriptionOf(schema));
  fromSchemas.set(schema, made);
  return made;
}

const fromSchemas = new WeakMap<object, ObjectType>();

/** Returns the fields that a schema names; metadata has Kubernetes' fields. */
export function objectTypeFromSchema(name: string, schema: Schema, table: FieldTable): ObjectType {
  return lazyObjectType(name, false, () => {
    const view = viewSchema(schema);
    const fields = new Map<string, Field>();
    if (view.kind !== 'object') return fields;
    for (const [key, entry] of view.entries) {
      refuseChecks(`${name}.${key}`, entry.schema);
      const inner = viewSchema(entry.schema);
      fields.set(key, {
        name: key,
        type: fieldType(`${name}${key[0]?.toUpperCase() ?? ''}${key.slice(1)}`, entry.schema, table),
        required: entry.required && key !== 'apiVersion' && key !== 'kind' && key !== 'metadata',
        ...(inner.kind === 'choice' && { choices: inner.choices }),
        rule: {
          acts: true,
          mandatory: entry.required && !['apiVersion', 'kind', 'metadata'].includes(key),
          ...(entry.default !== undefined && { default: entry.default }),
        },
        ...descriptionOf(entry.schema),
      });
    }
    return fields;
  });
}

/**
 * Throws for a schema with checks. The decoder does not run them; they belong in the kind's validation, which
 * has Kubernetes' messages.
 */
function refuseChecks(field: string, schema: Schema): void {
  const check = stepsOf(unwrap(schema)).find(
    (step) => !modelled.has(step.type) && !types.has(step.type) && !int32Bounds.has(step.requirement),
  );
  if (check)
    throw new Error(`the schema of ${field} has the check ${check.type}, which nothing runs; validate it`);
}

const modelled: ReadonlySet<string> = new Set(['description', 'integer', 'safe_integer', 'transform']);
const int32Bounds: ReadonlySet<unknown> = new Set([-2147483648, 2147483647]);
const types: ReadonlySet<string> = new Set([
  ...objects,
  'string',
  'number',
  'boolean',
  'array',
  'record',
  'picklist',
  'literal',
  'union',
  'unknown',
]);

/** Returns the description (valibot's `description`) of the schema or of a schema that it wraps. */
function descriptionOf(schema: Schema): { readonly description?: string } {
  for (let node: SchemaNode | undefined = schema as SchemaNode; node; node = node.wrapped) {
    const description = node.pipe?.find(({ type }) => type === 'description')?.description;
    if (typeof description === 'string') return { description };
  }
  return {};
}

const anyNode: SchemaNode = { type: 'any' };

function unwrap(schema: Schema): SchemaNode {
  let node = schema as SchemaNode;
  for (;;) {
    if (wrappers.has(node.type) && node.wrapped) node = node.wrapped;
    else if (node.type === 'lazy' && node.getter) node = node.getter(undefined);
    else return node;
  }
}

function entriesOf(node: SchemaNode): Map<string, SchemaEntry> {
  const entries = new Map<string, SchemaEntry>();
  for (const [key, schema] of Object.entries(node.entries ?? {}))
    entries.set(key, {
      schema,
      required: !['optional', 'nullish', 'undefinedable', 'exact_optional'].includes(schema.type),
      default: typeof schema.default === 'function' ? undefined : schema.default,
    });
  return entries;
}

/** Returns the view of a union: a number or a string is Kubernetes' IntOrString or Quantity. */
function viewUnion(options: readonly SchemaNode[]): SchemaView {
  const nodes = options.map(unwrap);
  const number = nodes.find((node) => node.type === 'number');
  if (nodes.length === 2 && number && nodes.some((node) => node.type === 'string'))
    return {
      kind: 'scalar',
      type: {
        kind: 'scalar',
        scalar: stepsOf(number).some((step) => step.type === 'transform') ? 'quantity' : 'intOrString',
      },
    };
  throw new Error('a field of several types that is no IntOrString and no Quantity cannot be served');
}

/** Returns the steps of a pipe, including those of pipes inside it. */
const stepsOf = ({ pipe = [] }: Pick<PipeStep, 'pipe'>): PipeStep[] =>
  pipe.flatMap((step) => (step.pipe ? stepsOf(step) : [step]));

function numberScalar(node: SchemaNode): 'int32' | 'int64' | 'double' {
  const steps = stepsOf(node);
  if (
    steps.some((step) => step.type === 'max_value' && Number(step.requirement) <= 2147483647) &&
    steps.some((step) => step.type === 'integer')
  )
    return 'int32';
  return steps.some((step) => step.type === 'integer' || step.type === 'safe_integer') ? 'int64' : 'double';
}

function fieldType(name: string, schema: Schema, table: FieldTable): FieldType {
  const meta = table.typeOf('meta.v1.ObjectMeta');
  if (unwrap(schema) === (objectMetaSchema as unknown) && meta) return { kind: 'object', object: meta };
  const view = viewSchema(schema);
  switch (view.kind) {
    case 'object':
      return { kind: 'object', object: objectTypeFromSchema(name, schema, table) };
    case 'list':
      return { kind: 'list', items: fieldType(name, view.items, table) };
    case 'map':
      return { kind: 'map', values: fieldType(name, view.values, table) };
    case 'choice':
      return { kind: 'scalar', scalar: 'string' };
    case 'scalar':
      return view.type;
    case 'any':
      return any;
  }
}
