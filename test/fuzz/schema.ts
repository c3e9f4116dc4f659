/** Values that match a schema of OpenAPI. */
import type { SeededRandom } from '../fixtures/seeded-random.ts';

export interface Schema {
  readonly $ref?: string;
  readonly allOf?: readonly Schema[];
  readonly type?: string;
  readonly format?: string;
  readonly enum?: readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
  readonly additionalProperties?: Schema | boolean;
  readonly 'x-kubernetes-group-version-kind'?: readonly {
    readonly group: string;
    readonly version: string;
    readonly kind: string;
  }[];
}

export type Schemas = Readonly<Record<string, Schema>>;

const words = [
  ...[
    'a',
    'b',
    'web',
    'default',
    'x-y',
    'app',
    '80',
    'http',
    'TCP',
    'Always',
    'node',
    '',
    'kube-system',
    'a.b/c',
  ],
  ...['10.0.0.1', '::1', '1Gi', '100m', '50%', '2026-01-01T00:00:00Z', '2026-01-01T00:00:00.000000Z', '10s'],
  ...[
    'Exists',
    'In',
    'Delete',
    'Retain',
    'ClusterIP',
    'None',
    'Recreate',
    'RollingUpdate',
    'OnDelete',
    'True',
  ],
];

export function pick<T>(random: SeededRandom, from: readonly T[]): T {
  return from[random.below(from.length)] as T;
}

export function resolve(schemas: Schemas, schema: Schema | undefined): Schema | undefined {
  if (!schema) return undefined;
  const reference = schema.$ref ?? schema.allOf?.[0]?.$ref;
  if (reference !== undefined) return schemas[reference.split('/').at(-1) ?? ''];
  return schema.allOf?.[0] ?? schema;
}

/** Returns a value of the right type with arbitrary contents, not deeper than `depth`. */
export function sampleOf(
  schemas: Schemas,
  given: Schema | undefined,
  random: SeededRandom,
  depth: number,
): unknown {
  const schema = resolve(schemas, given);
  if (!schema) return pick(random, words);
  if (schema.enum) return pick(random, schema.enum);
  const inner = (of: Schema | undefined) => sampleOf(schemas, of, random, depth - 1);
  switch (schema.type) {
    case 'integer':
    case 'number':
      return pick(random, [0, 1, 2, 80, 30_000, 65_535, -1, 3600]);
    case 'boolean':
      return random.next() < 0.5;
    case 'array':
      return depth <= 0 ? [] : Array.from({ length: random.below(4) }, () => inner(schema.items));
    case 'object': {
      const fields = Object.entries(schema.properties ?? {});
      if (fields.length > 0)
        return Object.fromEntries(
          fields
            .filter(() => depth > 0 && random.next() < Math.max(0.15, 2 / fields.length))
            .map(([name, of]) => [name, inner(of)]),
        );
      const of = typeof schema.additionalProperties === 'object' ? schema.additionalProperties : undefined;
      return Object.fromEntries(
        Array.from({ length: random.below(3) }, () => [pick(random, words), inner(of)]),
      );
    }
    default:
      return pick(random, words);
  }
}

/** Sets a field of the kind, at any depth, to a value of its type. */
export function setField(
  schemas: Schemas,
  schema: string | undefined,
  object: object,
  random: SeededRandom,
): void {
  let at = object as Record<string, unknown>;
  let of = schema === undefined ? undefined : schemas[schema];
  for (let depth = 0; depth < 8; depth++) {
    const names = Object.keys(of?.properties ?? {}).filter(
      (name) => name !== 'apiVersion' && name !== 'kind',
    );
    if (names.length === 0) return;
    // Existing objects are entered more often.
    const there = names.filter((name) => typeof at[name] === 'object' && at[name] !== null);
    const name = there.length > 0 && random.next() < 0.8 ? pick(random, there) : pick(random, names);
    const field = resolve(schemas, of?.properties?.[name]);
    const value = at[name];
    const next: unknown = Array.isArray(value) && value.length > 0 ? pick(random, value) : value;
    const nextOf = Array.isArray(value) ? resolve(schemas, field?.items) : field;
    if (typeof next !== 'object' || next === null || !nextOf?.properties || random.next() < 0.2) {
      at[name] = sampleOf(schemas, of?.properties?.[name], random, 4);
      return;
    }
    at = next as Record<string, unknown>;
    of = nextOf;
  }
}
