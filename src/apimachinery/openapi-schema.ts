/**
 * Types as OpenAPI schemas. Versions 2 and 3 differ only in the place of definitions and the form of
 * references.
 */
import type { Field, FieldType, MergeRule, ObjectType, PublishedSchema, Scalar } from './field-types.ts';

/** The part of a JSON schema that these documents use; both OpenAPI versions have it. */
export interface SchemaObject {
  readonly $ref?: string;
  readonly description?: string;
  readonly type?: string;
  readonly format?: string;
  readonly enum?: readonly string[];
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, SchemaObject>>;
  readonly additionalProperties?: SchemaObject;
  readonly items?: SchemaObject;
  readonly allOf?: readonly SchemaObject[];
  readonly oneOf?: readonly SchemaObject[];
  readonly [extension: `x-kubernetes-${string}`]: unknown;
}

/** Texts by type name and field; the empty field stands for the type itself. */
export type FieldDocs = Readonly<Record<string, Readonly<Record<string, string>>>>;

export interface GroupVersionKind {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
}

export type OpenApiVersion = 2 | 3;

/** Approximate number of bytes of a field without its description. */
const fieldBytes = 100;

/** Type whose apiVersion and kind are described as those of every kind. */
const headOfEveryKind = 'meta.v1.Status';

/**
 * Collects the schemas of types and of all types that they contain. A pod has hundreds of types, so that each
 * is described in a step of its own.
 */
export class SchemaCollector {
  /** Complete once `describe` has ended. */
  readonly schemas: Record<string, SchemaObject> = {};
  /** Types that have an empty schema so far. */
  readonly #waiting: ObjectType[] = [];
  readonly #kinds = new Map<string, GroupVersionKind>();
  readonly #version: OpenApiVersion;
  readonly #docs: FieldDocs;

  constructor(version: OpenApiVersion, docs: FieldDocs) {
    this.#version = version;
    this.#docs = docs;
  }

  /** Adds the type of a kind, marked with the kind. */
  addKind(type: ObjectType, gvk: GroupVersionKind): void {
    this.#kinds.set(this.#add(type), gvk);
  }

  /** Returns a reference to the type's schema. */
  reference(type: ObjectType): SchemaObject {
    return this.#referenceTo(schemaName(type));
  }

  #referenceTo(name: string): SchemaObject {
    const prefix = this.#version === 2 ? '#/definitions/' : '#/components/schemas/';
    return { $ref: `${prefix}${name}` };
  }

  #add(type: ObjectType): string {
    const name = schemaName(type);
    if (Object.hasOwn(this.schemas, name)) return name;
    this.schemas[name] = {};
    this.#waiting.push(type);
    return name;
  }

  /** Describes the types in steps of one each. Yields the approximate number of bytes of each step. */
  *describe(): Generator<number, void, void> {
    for (let type = this.#waiting.shift(); type; type = this.#waiting.shift()) yield this.#describe(type);
  }

  #describe(type: ObjectType): number {
    return type.published ? this.#publish(type, type.published) : this.#describeFields(type);
  }

  #publish(type: ObjectType, { schema, meta, bytes }: PublishedSchema): number {
    const name = schemaName(type);
    this.#add(meta);
    const gvk = this.#kinds.get(name);
    this.schemas[name] = {
      ...schema(this.#version, { ...this.reference(meta) }, this.#docs[headOfEveryKind]),
      ...(gvk && { 'x-kubernetes-group-version-kind': [gvk] }),
    };
    return bytes;
  }

  #describeFields(type: ObjectType): number {
    const name = schemaName(type);
    const properties: Record<string, SchemaObject> = {};
    let size = fieldBytes;
    for (const field of type.fields.values()) {
      const property = this.#property(type, field);
      properties[field.name] = property;
      size += fieldBytes + (property.description?.length ?? 0);
    }
    const gvk = this.#kinds.get(name);
    const required = [...type.fields.values()].filter((field) => field.required).map((field) => field.name);
    this.schemas[name] = {
      ...described(this.#docs[type.name]?.[''] ?? type.description),
      type: 'object',
      ...(required.length > 0 && { required }),
      ...(type.fields.size > 0 && { properties }),
      ...(type.atomic && { 'x-kubernetes-map-type': 'atomic' }),
      ...(gvk && { 'x-kubernetes-group-version-kind': [gvk] }),
    };
    return size;
  }

  #property(owner: ObjectType, field: Field): SchemaObject {
    const schema = this.#schemaOf(field.type);
    const extras: SchemaObject = {
      ...described(this.#docs[owner.name]?.[field.name] ?? field.description),
      ...(field.choices && { enum: field.choices }),
      ...mergeExtensions(field),
    };
    // OpenAPI version 3 ignores anything beside a $ref.
    return schema.$ref && this.#version === 3 ? { ...extras, allOf: [schema] } : { ...schema, ...extras };
  }

  /**
   * Quantities and int-or-strings have definitions of their own; clients show the names of these as types.
   */
  #scalar(scalar: Scalar): SchemaObject {
    const definition = scalarDefinitions.get(scalar);
    if (definition === undefined) return scalarSchemas[scalar];
    const { name, description, oneOf } = definition;
    const { type = 'string', ...format } = scalarSchemas[scalar];
    // OpenAPI version 2 has no oneOf: there, a string stands for both.
    this.schemas[name] = { description, ...(this.#version === 2 ? { type } : { oneOf }), ...format };
    return this.#referenceTo(name);
  }

  #schemaOf(type: FieldType): SchemaObject {
    switch (type.kind) {
      case 'any':
        return this.#version === 2 ? { type: 'object' } : {};
      case 'scalar':
        return this.#scalar(type.scalar);
      case 'object':
        this.#add(type.object);
        return this.reference(type.object);
      case 'list':
        return { type: 'array', items: this.#schemaOf(type.items) };
      case 'map':
        return { type: 'object', additionalProperties: this.#schemaOf(type.values) };
    }
  }
}

/** Go packages that Kubernetes' documents name for a group's types; most are in k8s.io/api. */
const origins: Readonly<Record<string, string>> = {
  meta: 'io.k8s.apimachinery.pkg.apis',
  apiextensions: 'io.k8s.apiextensions-apiserver.pkg.apis',
  apiregistration: 'io.k8s.kube-aggregator.pkg.apis',
};

/**
 * Returns the name as in Kubernetes, `core.v1.PodSpec` → `io.k8s.api.core.v1.PodSpec`; minik8s' types are in
 * `io.minik8s`.
 */
export function schemaName({ name, published }: ObjectType): string {
  if (published) return published.name;
  const [group = '', ...rest] = name.split('.');
  return rest.length === 0 ? `io.minik8s.v1.${name}` : `${origins[group] ?? 'io.k8s.api'}.${name}`;
}

const scalarSchemas: Readonly<Record<Scalar, SchemaObject>> = {
  string: { type: 'string' },
  bool: { type: 'boolean' },
  int32: { type: 'integer', format: 'int32' },
  int64: { type: 'integer', format: 'int64' },
  double: { type: 'number', format: 'double' },
  time: { type: 'string', format: 'date-time' },
  microTime: { type: 'string', format: 'date-time' },
  quantity: { type: 'string' },
  intOrString: { type: 'string', format: 'int-or-string' },
  bytes: { type: 'string', format: 'byte' },
};

interface ScalarDefinition {
  readonly name: string;
  readonly description: string;
  readonly oneOf: readonly SchemaObject[];
}

/**
 * Scalars for which Kubernetes' documents have a named definition (k8s.io/apimachinery: OpenAPIV3OneOfTypes
 * of both).
 */
const scalarDefinitions: ReadonlyMap<Scalar, ScalarDefinition> = new Map([
  [
    'quantity',
    {
      name: 'io.k8s.apimachinery.pkg.api.resource.Quantity',
      description:
        'An amount: a number with a suffix, such as 500m (thousandths), 64Mi (powers of 1024) or 2G (powers of 1000).',
      oneOf: [{ type: 'string' }, { type: 'number' }],
    },
  ],
  [
    'intOrString',
    {
      name: 'io.k8s.apimachinery.pkg.util.intstr.IntOrString',
      description: 'A whole number, or a text such as the name of a port or a percentage.',
      oneOf: [{ type: 'integer' }, { type: 'string' }],
    },
  ],
]);

const described = (text: string | undefined) => (text ? { description: text } : {});

function mergeExtensions({ type, merge }: Field): SchemaObject {
  const strategy = patchStrategy(merge);
  return {
    ...(strategy && { 'x-kubernetes-patch-strategy': strategy }),
    ...(merge?.patchKey && { 'x-kubernetes-patch-merge-key': merge.patchKey }),
    ...(type.kind === 'list' && { 'x-kubernetes-list-type': merge?.listType ?? 'atomic' }),
    ...(merge?.listKeys && { 'x-kubernetes-list-map-keys': merge.listKeys }),
    ...(merge?.mapType && { 'x-kubernetes-map-type': merge.mapType }),
  };
}

function patchStrategy(merge: MergeRule | undefined): string {
  return [...(merge?.patchMerge ? ['merge'] : []), ...(merge?.retainKeys ? ['retainKeys'] : [])].join(',');
}
