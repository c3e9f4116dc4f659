import assert from 'node:assert/strict';
import { test } from 'node:test';
import { kubernetesFields } from '../../../../src/api/field-table.ts';
import { convertObject } from '../../../../src/apimachinery/decode.ts';
import type { JsonObject } from '../../../../src/apimachinery/equality.ts';
import { newInvalid, StatusError } from '../../../../src/apimachinery/status-error.ts';
import { inOneGo } from '../../../../src/apimachinery/steps.ts';
import type { StructuralSchema } from '../../../../src/apimachinery/structural-schema/schema.ts';
import { customKind } from '../../../../src/kube-apiserver/custom-resources/custom-kind.ts';

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
const decode = (spec: unknown, validation: 'Strict' | 'Warn' = 'Strict') => {
  const { object } = convertObject(kubernetesFields, thing, { metadata: { name: 'a' }, spec }, validation);
  const causes = thing.versionRules ? inOneGo(thing.versionRules.validate(object, undefined)) : [];
  if (causes.length > 0) throw newInvalid(thing, 'a', causes);
  return object as unknown as { spec: JsonObject };
};

test('an object gets the defaults of its schema, and its free-form parts are kept completely', () => {
  const sent = {
    ...{ size: 3, small: 4, ratio: 0.5, name: 'abc', port: 'http', tags: ['a'], by: { x: 5 } },
    ...{ free: { any: [{ thing: null }] }, open: 'x', list: [1, 'a'] },
  };
  assert.deepEqual(decode(sent).spec, { ...sent, mode: 'Fast', on: false, nested: { depth: 1 } });
});

for (const [title, spec, message] of [
  ['without a required field', {}, /spec.size: Required value/],
  ['without its spec', undefined, /spec: Required value|spec.size: Required value/],
  ['with an unknown field', { size: 1, other: 1 }, /unknown field "spec.other"/],
  ['with a text for a number', { size: 'x' }, /spec.size/],
  ['with a fraction for an integer', { size: 1.5 }, /spec.size/],
  [
    'with a value outside of the enumeration',
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
