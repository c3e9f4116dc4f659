/** What a client is told of an object with wrong choices and missing fields: all of it at once. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { kubernetesFields } from '../../../src/api/field-table.ts';
import { registry } from '../../../src/api/registry.ts';
import { convertObject } from '../../../src/apimachinery/decode.ts';
import { deepCopy } from '../../../src/apimachinery/equality.ts';
import { apiVersionOf, type ResourceDefinition } from '../../../src/apimachinery/resource-definition.ts';
import { type Schema, viewSchema } from '../../../src/apimachinery/schema-types.ts';
import { StatusError } from '../../../src/apimachinery/status-error.ts';
import type { Raw } from '../../fixtures/kinds.ts';

const kinds = new Map(registry.map((definition) => [definition.kind, definition]));

/** The causes of the refusal, `field: message` each. */
function refusal(definition: ResourceDefinition, body: unknown): string[] {
  try {
    convertObject(kubernetesFields, definition, deepCopy(body), 'Ignore');
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
    'a choice beside broken rules',
    'Pod',
    { metadata: { name: 'Bad_Name' }, spec: { restartPolicy: 'Sometimes', containers: [container] } },
    /^spec\.restartPolicy: Unsupported value: "Sometimes"/,
    /^metadata\.name: Invalid value: "Bad_Name"/,
    /^spec\.containers\[0\]\.image: Required value$/,
    /^spec\.containers\[0\]\.ports\[0\]\.containerPort: Invalid value: 99999/,
  ],
  [
    'a missing field beside broken rules, once for each field',
    'Pod',
    { metadata: { generateName: 'web-' }, spec: { containers: [{ ...container, name: undefined }] } },
    /^spec\.containers\[0\]\.name: Required value$/,
    /^spec\.containers\[0\]\.image: Required value$/,
    /^spec\.containers\[0\]\.ports\[0\]\.containerPort: Invalid value: 99999/,
  ],
  [
    'no rule of another choice',
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

test('of more than a hundred causes a hundred are listed', () => {
  const definition = kinds.get('Pod');
  assert.ok(definition);
  const containers = Array.from({ length: 99 }, (_, i) => ({ name: `c${i}`, image: '' }));
  const found = () =>
    convertObject(
      kubernetesFields,
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

/** An object with every field that the schema names. */
function full(schema: Schema, name = ''): unknown {
  const view = viewSchema(schema);
  switch (view.kind) {
    case 'object':
      return Object.fromEntries([...view.entries].map(([key, entry]) => [key, full(entry.schema, key)]));
    case 'list':
      return [full(view.items, name)];
    case 'map':
      return { key: full(view.values) };
    case 'choice':
      return view.choices[0];
    case 'scalar': {
      const { type } = view;
      if (type.kind !== 'scalar' || type.scalar === 'quantity') return '1';
      if (type.scalar === 'string') return /time|At$/i.test(name) ? '2026-01-01T00:00:00.000000Z' : 'eA==';
      return type.scalar === 'bool' ? true : 1;
    }
    case 'any':
      return {};
  }
}

/** Every way to break one field: the path of keys, and the value it gets; undefined takes it away. */
function* breakages(
  schema: Schema,
  path: (string | number)[] = [],
): Generator<[(string | number)[], unknown]> {
  const view = viewSchema(schema);
  if (view.kind === 'choice') for (const text of ['Bad', 'constructor']) yield [path, text];
  if (view.kind === 'list') yield* breakages(view.items, [...path, 0]);
  if (view.kind === 'map') yield* breakages(view.values, [...path, 'key']);
  if (view.kind !== 'object') return;
  for (const [key, entry] of view.entries) {
    if (path.length === 0 && (key === 'apiVersion' || key === 'kind')) continue;
    if (entry.required) yield [[...path, key], undefined];
    yield* breakages(entry.schema, [...path, key]);
  }
}

function put(object: unknown, path: readonly (string | number)[], value: unknown): void {
  const last = path.at(-1) ?? '';
  const holder = path.slice(0, -1).reduce((inner, key) => (inner as Raw)?.[key] as object, object as object);
  if (value === undefined) delete (holder as Record<string, unknown>)[last];
  else (holder as Record<string, unknown>)[last] = value;
}

for (const definition of registry) {
  test(`${definition.kind}: whatever is missing or no choice, its name is judged too`, () => {
    const base = {
      ...(full(definition.schema) as object),
      apiVersion: apiVersionOf(definition),
      kind: definition.kind,
      metadata: { name: 'Bad/Name' },
    };
    for (const [path, value] of breakages(definition.schema)) {
      if (path[0] === 'metadata') continue;
      const body = deepCopy(base);
      put(body, path, value);
      const found = refusal(definition, body);
      // What Kubernetes fills in may be left out.
      if (found.length > 0)
        assert.ok(
          found.some((line) => line.startsWith('metadata.name: Invalid value: "Bad/Name"')),
          `${path.join('.')}: ${found.join('\n')}`,
        );
    }
  });
}
