/**
 * Causes that a client receives for an object with wrong values and missing fields: all in one answer.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { convertObject } from '../../../src/apimachinery/decode.ts';
import { deepCopy } from '../../../src/apimachinery/equality.ts';
import type { Field, FieldType, ObjectType } from '../../../src/apimachinery/field-types.ts';
import { apiVersionOf, type ResourceDefinition } from '../../../src/apimachinery/resource-definition.ts';
import { objectTypeOf } from '../../../src/apimachinery/schema-types.ts';
import { StatusError } from '../../../src/apimachinery/status-error.ts';
import { kindFields, registry } from '../../../src/features/kinds.ts';
import type { Raw } from '../../fixtures/kinds.ts';

const kinds = new Map(registry.map((definition) => [definition.kind, definition]));

/** Returns the causes of the rejection, each as `field: message`. */
function refusal(definition: ResourceDefinition, body: unknown): string[] {
  try {
    convertObject(kindFields, definition, deepCopy(body), 'Ignore');
  } catch (error) {
    if (!(error instanceof StatusError)) throw error;
    return (error.status.details?.causes ?? [error.status]).map(
      ({ field, message }: { field?: string; message?: string }) => `${field}: ${message}`,
    );
  }
  return [];
}

const container = { name: 'c', image: '', ports: [{ containerPort: 99999 }] };
const cases: [what: string, kind: string, body: Raw, ...causes: RegExp[]][] = [
  [
    'an invalid choice beside other faults',
    'Pod',
    { metadata: { name: 'Bad_Name' }, spec: { restartPolicy: 'Sometimes', containers: [container] } },
    /^spec\.restartPolicy: Unsupported value: "Sometimes"/,
    /^metadata\.name: Invalid value: "Bad_Name"/,
    /^spec\.containers\[0\]\.image: Required value$/,
    /^spec\.containers\[0\]\.ports\[0\]\.containerPort: Invalid value: 99999/,
  ],
  [
    'missing fields beside other faults, once for each field',
    'Pod',
    { metadata: { generateName: 'web-' }, spec: { containers: [{ ...container, name: undefined }] } },
    /^spec\.containers\[0\]\.name: Required value$/,
    /^spec\.containers\[0\]\.image: Required value$/,
    /^spec\.containers\[0\]\.ports\[0\]\.containerPort: Invalid value: 99999/,
  ],
  [
    'no fault of a type that was not chosen',
    'Service',
    { metadata: { name: 'web' }, spec: { type: 'Nowhere', ports: [{ port: 80, nodePort: 30080 }] } },
    /^spec\.type: Unsupported value: "Nowhere"/,
  ],
];
for (const [what, kind, body, ...expected] of cases) {
  test(`${kind}: ${what}`, () => {
    const definition = kinds.get(kind);
    assert.ok(definition);
    const found = refusal(definition, body);
    assert.equal(found.length, expected.length, found.join('\n'));
    for (const [index, pattern] of expected.entries()) assert.match(found[index] ?? '', pattern);
  });
}

test('at most a hundred causes are listed', () => {
  const definition = kinds.get('Pod');
  assert.ok(definition);
  const containers = Array.from({ length: 99 }, (_, i) => ({ name: `c${i}`, image: '' }));
  const found = () =>
    convertObject(
      kindFields,
      definition,
      { metadata: { name: 'a' }, spec: { restartPolicy: 'No', dnsPolicy: 'No', containers } },
      'Ignore',
    );
  assert.throws(found, (error) => {
    assert.ok(error instanceof StatusError);
    assert.equal(error.status.details?.causes?.length, 100);
    assert.match(error.message, /, and more\]$/);
    return true;
  });
});

/** Returns an object with every field that minik8s acts on. */
function full(type: FieldType, name = '', inside: readonly string[] = []): unknown {
  switch (type.kind) {
    case 'object':
      if (inside.includes(type.object.name)) return {};
      return Object.fromEntries(
        acted(type.object).map((field) => [
          field.name,
          field.choices?.[0] ?? full(field.type, field.name, [...inside, type.object.name]),
        ]),
      );
    case 'list':
      return [full(type.items, name, inside)];
    case 'map':
      return { key: full(type.values, '', inside) };
    case 'scalar':
      if (type.scalar === 'time' || type.scalar === 'microTime') return '2026-01-01T00:00:00.000000Z';
      if (type.scalar === 'string' || type.scalar === 'bytes') return 'eA==';
      if (type.scalar === 'quantity') return '1';
      return type.scalar === 'bool' ? true : 1;
    case 'any':
      return {};
  }
}

const acted = (type: ObjectType): readonly Field[] =>
  [...type.fields.values()].filter(({ rule }) => rule?.acts ?? false);

/** Yields every way to break one field: the path of keys, and the new value; undefined removes the field. */
function* breakages(
  type: FieldType,
  path: (string | number)[] = [],
  inside: readonly string[] = [],
): Generator<[(string | number)[], unknown]> {
  if (type.kind === 'list') yield* breakages(type.items, [...path, 0], inside);
  if (type.kind === 'map') yield* breakages(type.values, [...path, 'key'], inside);
  if (type.kind !== 'object' || inside.includes(type.object.name)) return;
  for (const { name, type: inner, choices, rule } of acted(type.object)) {
    if (path.length === 0 && (name === 'apiVersion' || name === 'kind')) continue;
    if (choices && inner.kind === 'scalar')
      for (const text of ['Bad', 'constructor']) yield [[...path, name], text];
    if (rule?.mandatory) yield [[...path, name], undefined];
    if (rule?.limits) yield [[...path, name], rule.limits[0] - 1];
    yield* breakages(inner, [...path, name], [...inside, type.object.name]);
  }
}

function put(object: unknown, path: readonly (string | number)[], value: unknown): void {
  const last = path.at(-1) ?? '';
  const holder = path.slice(0, -1).reduce((inner, key) => (inner as Raw)?.[key] as object, object as object);
  if (value === undefined) delete (holder as Record<string, unknown>)[last];
  else (holder as Record<string, unknown>)[last] = value;
}

for (const definition of registry) {
  test(`${definition.kind}: missing fields, invalid choices and numbers out of limits are reported together with an invalid name`, () => {
    const type: FieldType = { kind: 'object', object: objectTypeOf(definition, kindFields) };
    const base = {
      ...(full(type) as object),
      apiVersion: apiVersionOf(definition),
      kind: definition.kind,
      metadata: { name: 'Bad/Name' },
    };
    for (const [path, value] of breakages(type)) {
      if (path[0] === 'metadata') continue;
      const body = deepCopy(base);
      put(body, path, value);
      const found = refusal(definition, body);
      // Fields for which Kubernetes has a default may be missing.
      if (found.length > 0)
        assert.ok(
          found.some((line) => line.startsWith('metadata.name: Invalid value: "Bad/Name"')),
          `${path.join('.')}: ${found.join('\n')}`,
        );
    }
  });
}
