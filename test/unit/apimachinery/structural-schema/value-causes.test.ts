import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { inOneGo } from '../../../../src/apimachinery/steps.ts';
import type { StructuralSchema } from '../../../../src/apimachinery/structural-schema/schema.ts';
import { valueCauses } from '../../../../src/apimachinery/structural-schema/value-causes.ts';

const lines = (value: unknown, schema: StructuralSchema, old?: unknown) =>
  inOneGo(valueCauses(value, schema, { old })).map(({ field, message }) => `${field}: ${message}`);

const inA = (schema: StructuralSchema): StructuralSchema => ({ type: 'object', properties: { a: schema } });

/** The value of the field `a`, its schema, and the causes. */
const cases: readonly (readonly [value: unknown, StructuralSchema, ...causes: string[]])[] = [
  [1, { type: 'string' }, 'a: Invalid value: "integer": a in body must be of type string: "integer"'],
  ['x', { type: 'integer' }, 'a: Invalid value: "string": a in body must be of type integer: "string"'],
  [1.5, { type: 'integer' }, 'a: Invalid value: "number": a in body must be of type integer: "number"'],
  [1, { type: 'number' }],
  [null, { type: 'string' }, 'a: Invalid value: "null": a in body must be of type string: "null"'],
  [null, { type: 'string', nullable: true }],
  [
    true,
    { 'x-kubernetes-int-or-string': true },
    'a: Invalid value: "boolean": a in body must be of type integer,string: "boolean"',
  ],
  ['80%', { 'x-kubernetes-int-or-string': true }],
  [80, { 'x-kubernetes-int-or-string': true, anyOf: [{ type: 'integer' }, { type: 'string' }] }],
  [{ any: [1] }, { 'x-kubernetes-preserve-unknown-fields': true }],
  [4, { type: 'integer', maximum: 3 }, 'a: Invalid value: 4: a in body should be less than or equal to 3'],
  [
    3,
    { type: 'integer', maximum: 3, exclusiveMaximum: true },
    'a: Invalid value: 3: a in body should be less than 3',
  ],
  [0, { type: 'integer', minimum: 1 }, 'a: Invalid value: 0: a in body should be greater than or equal to 1'],
  [
    1.5,
    { type: 'number', minimum: 1.5, exclusiveMinimum: true },
    'a: Invalid value: 1.5: a in body should be greater than 1.5',
  ],
  [
    2000000.5,
    { type: 'number', maximum: 1000000 },
    'a: Invalid value: 2000000.5: a in body should be less than or equal to 1e+06',
  ],
  [5, { type: 'integer', multipleOf: 2 }, 'a: Invalid value: 5: a in body should be a multiple of 2'],
  [0.3, { type: 'number', multipleOf: 0.1 }],
  ['abcd', { type: 'string', maxLength: 3 }, 'a: Too long: may not be more than 3 bytes'],
  ['\u{1f600}\u{1f600}', { type: 'string', maxLength: 2 }],
  ['', { type: 'string', minLength: 1 }, 'a: Invalid value: "": a in body should be at least 1 chars long'],
  ['B', { type: 'string', pattern: '^[a-z]$' }, 'a: Invalid value: "B": a in body should match \'^[a-z]$\''],
  ['xby', { type: 'string', pattern: 'b' }],
  ['x', { type: 'string', format: 'date' }, 'a: Invalid value: "x": a in body must be of type date: "x"'],
  ['x', { type: 'string', format: 'of-the-user' }],
  ['c', { type: 'string', enum: ['a', 'b'] }, 'a: Unsupported value: "c": supported values: "a", "b"'],
  [3, { type: 'integer', enum: [1, 2] }, 'a: Unsupported value: 3: supported values: "1", "2"'],
  [
    null,
    { type: 'string', nullable: true, enum: ['a', null] },
    'a: Unsupported value: "null": supported values: "a", "null"',
  ],
  [[], { type: 'array', minItems: 1 }, 'a: Invalid value: 0: a in body should have at least 1 items'],
  [[1, 2], { type: 'array', maxItems: 1 }, 'a: Too many: 2: must have at most 1 items'],
  [
    {},
    { type: 'object', minProperties: 1 },
    'a: Invalid value: 0: a in body should have at least 1 properties',
  ],
  [{ x: 1, y: 1 }, { type: 'object', maxProperties: 1 }, 'a: Too many: 2: must have at most 1 items'],
  [{}, { type: 'object', required: ['b'] }, 'a.b: Required value'],
  [{ b: null }, { type: 'object', required: ['b'] }],
  [
    { b: 1 },
    { type: 'object', additionalProperties: false },
    'a: Invalid value: "b": a.b in body is a forbidden property',
  ],
  [
    { 'x/y': 1 },
    { type: 'object', additionalProperties: { type: 'string' } },
    'a.x/y: Invalid value: "integer": a.x/y in body must be of type string: "integer"',
  ],
  [
    ['x', 1],
    { type: 'array', items: { type: 'string' } },
    'a[1]: Invalid value: "integer": a[1] in body must be of type string: "integer"',
  ],
  [
    5,
    { type: 'integer', anyOf: [{ maximum: 3 }, { minimum: 7 }] },
    '<nil>: Invalid value: "": "a" must validate at least one schema (anyOf)',
    'a: Invalid value: 5: a in body should be less than or equal to 3',
  ],
  [8, { type: 'integer', anyOf: [{ maximum: 3 }, { minimum: 7 }] }],
  [
    5,
    { type: 'integer', oneOf: [{ minimum: 1 }, { minimum: 2 }] },
    '<nil>: Invalid value: "": "a" must validate one and only one schema (oneOf). Found 2 valid alternatives',
  ],
  [
    0,
    { type: 'integer', oneOf: [{ minimum: 1 }, { minimum: 2 }] },
    '<nil>: Invalid value: "": "a" must validate one and only one schema (oneOf). Found none valid',
    'a: Invalid value: 0: a in body should be greater than or equal to 1',
  ],
  [
    5,
    { type: 'integer', allOf: [{ minimum: 1 }, { maximum: 3 }] },
    'a: Invalid value: 5: a in body should be less than or equal to 3',
    '<nil>: Invalid value: "": "a" must validate all the schemas (allOf)',
  ],
  [
    5,
    { type: 'integer', allOf: [{ maximum: 3 }] },
    'a: Invalid value: 5: a in body should be less than or equal to 3',
    '<nil>: Invalid value: "": "a" must validate all the schemas (allOf). None validated',
  ],
  [
    5,
    { type: 'integer', not: { minimum: 1 } },
    '<nil>: Invalid value: "": "a" must not validate the schema (not)',
  ],
  [
    ['x', 'y', 'x', 'x'],
    { type: 'array', 'x-kubernetes-list-type': 'set', items: { type: 'string' } },
    'a[2]: Duplicate value: "x"',
  ],
  [
    [{ n: 'x', p: 1 }, { n: 'x', p: 2 }, { n: 'y' }],
    {
      type: 'array',
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['n'],
      items: { type: 'object' },
    },
    'a[1]: Duplicate value: {"n":"x"}',
  ],
  [
    [
      { n: 'x', p: 1 },
      { n: 'x', p: 2 },
    ],
    {
      type: 'array',
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['n', 'p'],
      items: { type: 'object' },
    },
  ],
  [
    { key: ['x', 'x'] },
    { type: 'object', additionalProperties: { type: 'array', 'x-kubernetes-list-type': 'set' } },
    'a[key][1]: Duplicate value: "x"',
  ],
];

describe('a value', () => {
  for (const [value, schema, ...causes] of cases)
    it(`${JSON.stringify(value)} of ${JSON.stringify(schema)} has the causes [${causes.join(', ')}]`, () => {
      assert.deepEqual(lines({ a: value }, inA(schema)), causes);
    });

  it('has the reason for types if its type is wrong', () => {
    assert.equal(inOneGo(valueCauses({ a: 1 }, inA({ type: 'string' })))[0]?.reason, 'FieldValueTypeInvalid');
  });

  it('has its fields under the path of a default', () => {
    assert.deepEqual(
      inOneGo(valueCauses({ a: 1 }, inA({ type: 'string' }), { base: 'x.default' })).map(
        ({ field }) => field,
      ),
      ['x.default.a'],
    );
  });
});

describe('an update', () => {
  const schema: StructuralSchema = {
    type: 'object',
    properties: {
      kind: { type: 'string', maxLength: 1 },
      a: { type: 'string', maxLength: 1 },
      inner: { type: 'object', required: ['r'], properties: { b: { type: 'integer', maximum: 1 } } },
      keyed: {
        type: 'array',
        'x-kubernetes-list-type': 'map',
        'x-kubernetes-list-map-keys': ['n'],
        items: { type: 'object', properties: { n: { type: 'string' }, v: { type: 'integer', maximum: 1 } } },
      },
      plain: { type: 'array', items: { type: 'integer', maximum: 1 } },
      tags: { type: 'array', 'x-kubernetes-list-type': 'set', items: { type: 'string' } },
    },
  };
  const cases: readonly (readonly [title: string, old: unknown, value: unknown, ...causes: string[]])[] = [
    ['accepts an unchanged invalid field', { a: 'xx' }, { a: 'xx' }],
    [
      'rejects a changed invalid field',
      { a: 'xx' },
      { a: 'xy' },
      'a: Too long: may not be more than 1 bytes',
    ],
    [
      'accepts an unchanged object without a required field',
      { inner: { b: 2 } },
      { inner: { b: 2 }, a: 'x' },
    ],
    [
      'rejects a missing field of a changed object, and not its unchanged fields',
      { inner: { b: 2 } },
      { inner: { b: 2, c: 1 } },
      'inner.r: Required value',
    ],
    [
      'finds the old item of a list with keys',
      { keyed: [{ n: 'x', v: 2 }] },
      {
        keyed: [
          { n: 'y', v: 1 },
          { n: 'x', v: 2 },
        ],
      },
    ],
    [
      'rejects a changed item of a list with keys',
      { keyed: [{ n: 'x', v: 2 }] },
      { keyed: [{ n: 'x', v: 3 }] },
      'keyed[0].v: Invalid value: 3: keyed[0].v in body should be less than or equal to 1',
    ],
    [
      'rejects invalid items of a changed list without keys',
      { plain: [2] },
      { plain: [2, 1] },
      'plain[0]: Invalid value: 2: plain[0] in body should be less than or equal to 1',
    ],
    ['accepts an unchanged invalid list', { plain: [2] }, { plain: [2], a: 'x' }],
    ['accepts duplicates that existed before', { tags: ['x', 'x'] }, { tags: ['x', 'x', 'y'] }],
    ['rejects new duplicates', { tags: ['x'] }, { tags: ['x', 'x'] }, 'tags[1]: Duplicate value: "x"'],
    [
      'always validates the kind',
      { kind: 'xx' },
      { kind: 'xx', a: 'x' },
      'kind: Too long: may not be more than 1 bytes',
    ],
  ];
  for (const [title, old, value, ...causes] of cases)
    it(title, () => {
      assert.deepEqual(lines(value, schema, old), causes);
    });
});

describe('a value that would take too long', () => {
  it('is rejected when the alternatives of a long list are too many', () => {
    const anyOf = Array.from({ length: 2000 }, (_, index) => ({ minimum: 1999 - index }));
    const schema = inA({ type: 'array', items: { type: 'integer', anyOf } });
    const [only, ...others] = lines({ a: Array.from({ length: 20_000 }, () => 0) }, schema);
    assert.match(only ?? '', /Forbidden: validation takes more than 150000 steps/);
    assert.deepEqual(others, []);
  });

  it('is matched with a catastrophic expression in linear time', () => {
    const schema = inA({ type: 'string', pattern: '^(a+)+$' });
    assert.equal(lines({ a: `${'a'.repeat(50_000)}b` }, schema).length, 1);
  });

  it('has at most a little over a hundred causes', () => {
    const list = Array.from({ length: 20_000 }, () => 'x');
    assert.equal(lines({ a: list }, inA({ type: 'array', items: { type: 'integer' } })).length, 101);
  });

  it('is rejected with a part of a long enumeration', () => {
    const choices = Array.from({ length: 100_000 }, (_, index) => `choice${index}`);
    const [line = ''] = lines({ a: 'x' }, inA({ type: 'string', enum: choices }));
    assert.ok(line.length < 5000 && line.endsWith('"…"'), `${line.length} characters`);
    assert.deepEqual(lines({ a: 'choice99999' }, inA({ type: 'string', enum: choices })), []);
  });
});
