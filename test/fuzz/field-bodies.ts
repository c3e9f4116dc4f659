/**
 * Bodies in which one field has the maximum length, or the maximum number of entries, of a request: every
 * field of a kind in OpenAPI, in turn.
 */
import { maxValues } from '../../src/apimachinery/value-limit.ts';
import { type Resource, seedOf } from './routes.ts';
import { resolve, type Schema, type Schemas } from './schema.ts';

export interface FieldBody {
  /** The field, such as `Pod spec.containers[].env`, and a description of its content. */
  readonly what: string;
  readonly json: () => string;
}

type Steps = readonly (string | 0)[];

interface Field {
  readonly steps: Steps;
  readonly schema: Schema;
}

/** Content of a field: its description, and its JSON. */
type Content = readonly [what: string, json: () => string];

const maxDepth = 14;
const textBytes = 400_000;
/** Units of long texts: characters that parsers look for, and at which they backtrack. */
const units = ['a.', '/', '9', '(a*)*', '{% a', ' '];
/** Placeholder for the content, which is no object while a body is made. */
const marker = '\u0000';

/** Yields the fields of a kind, except those of schemas in `seen`, which other kinds have too. */
function* fieldsOf(schemas: Schemas, schema: Schema, steps: Steps, seen: Set<string>): Generator<Field> {
  if (steps.length > maxDepth) return;
  const of = resolve(schemas, schema) ?? {};
  const reference = schema.$ref ?? schema.allOf?.[0]?.$ref;
  if (reference !== undefined) {
    if (seen.has(reference)) return;
    seen.add(reference);
  }
  if (steps.length > 0) yield { steps, schema: of };
  for (const [name, inner] of Object.entries(of.properties ?? {}))
    if (steps.length > 0 || (name !== 'apiVersion' && name !== 'kind'))
      yield* fieldsOf(schemas, inner, [...steps, name], seen);
  if (of.items) yield* fieldsOf(schemas, of.items, [...steps, 0], seen);
  if (typeof of.additionalProperties === 'object')
    yield* fieldsOf(schemas, of.additionalProperties, [...steps, 'key'], seen);
}

/** Returns a copy of the object with the field; missing parents are created. */
function withField(object: object, steps: Steps, value: unknown): object {
  const root = structuredClone(object);
  let at = root as Record<string | number, unknown>;
  for (const [index, step] of steps.entries()) {
    if (index === steps.length - 1) at[step] = value;
    else at[step] ??= steps[index + 1] === 0 ? [] : {};
    at = at[step] as Record<string | number, unknown>;
  }
  return root;
}

const place = (steps: Steps) =>
  steps
    .map((step) => (step === 0 ? '[]' : `.${step}`))
    .join('')
    .slice(1);

/**
 * Yields the bodies for a kind. `seen`: names of schemas whose fields need no bodies any more; the schemas of
 * this kind are added.
 */
export function* fieldBodies(schemas: Schemas, resource: Resource, seen: Set<string>): Generator<FieldBody> {
  const schema = resource.schema === undefined ? undefined : schemas[resource.schema];
  const seed = seedOf(resource);
  if (!schema || !seed) return;
  const object = { ...seed, metadata: { name: 'field' } };
  for (const { steps, schema: of } of fieldsOf(schemas, schema, [], seen))
    for (const [what, json] of contentsOf(schemas, of))
      yield {
        what: `${resource.kind} ${place(steps)}: ${what}`,
        json: () => JSON.stringify(withField(object, steps, marker)).replace(JSON.stringify(marker), json),
      };
}

function contentsOf(schemas: Schemas, field: Schema): readonly Content[] {
  const list = (count: number, item: (index: number) => string) =>
    Array.from({ length: count }, (_, index) => item(index)).join(',');
  const countOf = (values: number) => Math.floor((maxValues - 100) / values);
  if (field.type === 'string' && !field.enum)
    return units.map((unit) => [
      `a text of ${JSON.stringify(unit)}`,
      () => `"${unit.repeat(Math.floor(textBytes / unit.length))}"`,
    ]);
  if (field.type === 'array')
    return itemsOf(schemas, resolve(schemas, field.items) ?? {}).map(([what, item, values]) => [
      `many of ${what}`,
      () => `[${list(countOf(values), item)}]`,
    ]);
  if (field.type !== 'object' || field.properties) return [];
  const { additionalProperties: value } = field;
  return itemsOf(schemas, (typeof value === 'object' && resolve(schemas, value)) || {}).map(
    ([what, item, values]) => [
      `many keys of ${what}`,
      () => `{${list(countOf(values), (index) => `"k${index}":${item(index)}`)}}`,
    ],
  );
}

/** One entry of a list or map: its description, its JSON, and its number of values. */
type Item = readonly [what: string, json: (index: number) => string, values: number];

const texts: readonly Item[] = [
  ['texts', (index) => `"a${index}"`, 1],
  ['equal texts', () => '"a"', 1],
  ['addresses', (index) => `"10.${index >> 16}.${(index >> 8) & 255}.${index & 255}"`, 1],
  ['numbers', (index) => `"${index + 1}"`, 1],
];

/** Fields that identify the entries of lists. */
const names = ['name', 'key', 'type', 'ip', 'uid', 'topologyKey', 'path', 'host', 'containerPort', 'port'];
const emptyValues: Readonly<Record<string, string>> = { array: '[]', object: '{}', string: '"a"' };

function itemsOf(schemas: Schemas, item: Schema): readonly Item[] {
  if (item.type === 'string' || item.type === undefined) return texts;
  if (item.type === 'integer' || item.type === 'number') return [['numbers', (index) => String(index), 1]];
  if (item.type !== 'object') return [['lists', () => '[]', 1]];
  const typeOf = (name: string) => resolve(schemas, item.properties?.[name])?.type ?? '';
  const named = names.filter((name) => item.properties?.[name] !== undefined).slice(0, 3);
  const nameIn = (name: string, index: number) =>
    typeOf(name) === 'integer' ? String((index % 65_535) + 1) : `"a${index}"`;
  const inner = Object.keys(item.properties ?? {}).flatMap((name) => {
    const value = emptyValues[typeOf(name)];
    return value === undefined ? [] : [`"${name}":${value}`];
  });
  return [
    ['empty ones', () => '{}', 1],
    ['all fields', () => `{${inner.join(',')}}`, inner.length + 1],
    ...(named.length === 0
      ? []
      : [
          [
            `names (${named.join(', ')})`,
            (index: number) => `{${named.map((name) => `"${name}":${nameIn(name, index)}`).join(',')}}`,
            named.length + 1,
          ] as const,
        ]),
  ];
}
