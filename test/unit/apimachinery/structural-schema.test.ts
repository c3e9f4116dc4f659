import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { kubernetesFields } from '../../../src/api/field-table.ts';
import { convertObject } from '../../../src/apimachinery/decode.ts';
import type { JsonObject } from '../../../src/apimachinery/equality.ts';
import { StatusError } from '../../../src/apimachinery/status-error.ts';
import { type StructuralSchema, structuralCauses } from '../../../src/apimachinery/structural-schema.ts';
import { customKind } from '../../../src/kube-apiserver/custom-resources/custom-kind.ts';

const schema: StructuralSchema = {
  type: 'object',
  required: ['spec'],
  properties: {
    spec: {
      type: 'object',
      required: ['size'],
      properties: {
        size: { type: 'integer', minimum: 1, maximum: 9 },
        small: { type: 'integer', format: 'int32' },
        ratio: { type: 'number', minimum: 0.5 },
        mode: { type: 'string', enum: ['Fast', 'Slow'], default: 'Fast' },
        name: { type: 'string', minLength: 2, maxLength: 3 },
        on: { type: 'boolean', default: false },
        port: { 'x-kubernetes-int-or-string': true },
        tags: { type: 'array', items: { type: 'string', minLength: 1 }, minItems: 1, maxItems: 2 },
        by: { type: 'object', additionalProperties: { type: 'integer', maximum: 5 } },
        free: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
        open: {},
        list: { type: 'array' },
        nested: { type: 'object', default: {}, properties: { depth: { type: 'integer', default: 1 } } },
      },
    },
  },
};
const thing = customKind(
  { group: 'example.com', version: 'v1', kind: 'Thing', plural: 'things', namespaced: true, schema },
  kubernetesFields,
);
const decode = (spec: unknown, validation: 'Strict' | 'Warn' = 'Strict') =>
  convertObject(kubernetesFields, thing, { metadata: { name: 'a' }, spec }, validation).object as unknown as {
    spec: JsonObject;
  };

test('an object of a schema has its defaults, and what is free is kept whole', () => {
  const sent = {
    ...{ size: 3, small: 4, ratio: 0.5, name: 'abc', port: 'http', tags: ['a'], by: { x: 5 } },
    ...{ free: { any: [{ thing: null }] }, open: 'x', list: [1, 'a'] },
  };
  assert.deepEqual(decode(sent).spec, { ...sent, mode: 'Fast', on: false, nested: { depth: 1 } });
});

for (const [title, spec, message] of [
  ['without a field that it needs', {}, /spec.size: Required value/],
  ['without its specification', undefined, /spec: Required value|spec.size: Required value/],
  ['with a field that nobody knows', { size: 1, other: 1 }, /unknown field "spec.other"/],
  ['with a text for a number', { size: 'x' }, /spec.size/],
  ['with a fraction for an integer', { size: 1.5 }, /spec.size/],
  ['with a number beyond 32 bits', { size: 1, small: 2 ** 31 }, /spec.small/],
  [
    'with another word than those there are',
    { size: 1, mode: 'Odd' },
    /spec.mode: Unsupported value: "Odd": supported values: "Fast", "Slow"/,
  ],
  ['with a number in a list of texts', { size: 1, tags: [1] }, /spec.tags\[0\]/],
  ['with a text in a map of numbers', { size: 1, by: { a: 'x' } }, /spec.by.a/],
] as const)
  test(`an object ${title} is refused`, () => {
    assert.throws(
      () => decode(spec),
      (error) => error instanceof StatusError && message.test(error.message),
    );
  });

describe('a limit', () => {
  for (const [spec, ...expected] of [
    [{ size: 1, ratio: 0.5, name: 'ab', tags: ['a', 'b'], by: { a: 5 } }],
    [{ size: 9 }],
    [{ size: 0 }, 'spec.size: Invalid value: 0: spec.size in body should be greater than or equal to 1'],
    [{ size: 10 }, 'spec.size: Invalid value: 10: spec.size in body should be less than or equal to 9'],
    [
      { ratio: 0.4 },
      'spec.ratio: Invalid value: 0.4: spec.ratio in body should be greater than or equal to 0.5',
    ],
    [{ name: 'a' }, 'spec.name: Invalid value: "a": spec.name in body should be at least 2 chars long'],
    [{ name: '€€€' }],
    [{ name: 'abcd' }, 'spec.name: Too long: may not be more than 3 bytes'],
    [{ tags: [] }, 'spec.tags: Invalid value: []: spec.tags in body should have at least 1 items'],
    [{ tags: ['a', 'b', 'c'] }, 'spec.tags: Too many: 3: must have at most 2 items'],
    [
      { tags: ['a', ''] },
      'spec.tags[1]: Invalid value: "": spec.tags[1] in body should be at least 1 chars long',
    ],
    [
      { by: { a: 5, b: 6 } },
      'spec.by.b: Invalid value: 6: spec.by.b in body should be less than or equal to 5',
    ],
    [{ free: { size: 0 }, other: 0, constructor: 0 }],
  ] as const)
    test(`${JSON.stringify(spec)} ${expected.length > 0 ? 'exceeds one' : 'exceeds none'}`, () => {
      const causes = structuralCauses({ spec }, schema).map(({ field, message }) => `${field}: ${message}`);
      assert.deepEqual(causes, expected);
      assert.deepEqual(
        thing.versionRules
          ?.validate({ apiVersion: '', kind: '', metadata: {} as never, spec } as never, undefined)
          .map(({ field }) => field),
        structuralCauses({ spec }, schema).map(({ field }) => field),
      );
    });
});

test('a schema with an unsupported check is rejected, with the path to it', () => {
  const kind = (inner: object) => () =>
    customKind(
      {
        ...{ group: 'example.com', version: 'v1', kind: 'Thing', plural: 'things', namespaced: true },
        schema: { type: 'object', properties: { spec: { type: 'object', ...inner } } },
      },
      kubernetesFields,
    );
  assert.throws(
    kind({ properties: { a: { type: 'string', pattern: '^a' } } }),
    /spec\.a: pattern is not supported/,
  );
  assert.throws(kind({ additionalProperties: { not: {} } }), /spec\[\*\]: not is not supported/);
  assert.throws(
    kind({ properties: { a: { type: 'array', items: { oneOf: [] } } } }),
    /spec\.a\[\]: oneOf is not/,
  );
});
