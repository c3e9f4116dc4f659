import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { StatusError } from '../../../../src/apimachinery/status-error.ts';
import { withDefaults, withoutNulls } from '../../../../src/apimachinery/structural-schema/defaulting.ts';
import type { StructuralSchema } from '../../../../src/apimachinery/structural-schema/schema.ts';

const object = (properties: Record<string, StructuralSchema>): StructuralSchema => ({
  type: 'object',
  properties,
});
const size: StructuralSchema = { type: 'integer', default: 3 };

const cases: readonly (readonly [title: string, StructuralSchema, value: unknown, expected: unknown])[] = [
  ['sets a missing field', object({ size }), {}, { size: 3 }],
  ['keeps a field that is set, also to zero', object({ size }), { size: 0 }, { size: 0 }],
  ['replaces a null where the schema allows none', object({ size }), { size: null }, { size: 3 }],
  [
    'keeps a null that the schema allows',
    object({ size: { ...size, nullable: true } }),
    { size: null },
    { size: null },
  ],
  ['keeps a null without a default', object({ a: { type: 'string' } }), { a: null }, { a: null }],
  ['does not add a missing object whose fields have defaults', object({ inner: object({ size }) }), {}, {}],
  [
    'applies to the fields of an object that is itself a default',
    object({ inner: { ...object({ size }), default: {} } }),
    {},
    { inner: { size: 3 } },
  ],
  [
    'applies to items of lists',
    object({ list: { type: 'array', items: object({ size }) } }),
    { list: [{}, { size: 1 }] },
    { list: [{ size: 3 }, { size: 1 }] },
  ],
  [
    'replaces nulls in lists',
    object({ list: { type: 'array', items: size } }),
    { list: [null, 1] },
    { list: [3, 1] },
  ],
  [
    'applies to values of maps',
    object({ map: { type: 'object', additionalProperties: object({ size }) } }),
    { map: { a: {} } },
    { map: { a: { size: 3 } } },
  ],
  [
    'replaces nulls in maps',
    object({ map: { type: 'object', additionalProperties: size } }),
    { map: { a: null } },
    { map: { a: 3 } },
  ],
  ['keeps a value of another type', object({ inner: object({ size }) }), { inner: 'x' }, { inner: 'x' }],
];

describe('a default', () => {
  for (const [title, schema, value, expected] of cases)
    it(title, () => {
      const before = JSON.stringify(value);
      assert.deepEqual(withDefaults(value, schema), expected);
      assert.equal(JSON.stringify(value), before, 'the original is unchanged');
    });

  it('is copied for each place', () => {
    const schema = object({
      list: { type: 'array', items: object({ inner: { ...object({ size }), default: {} } }) },
    });
    const { list } = withDefaults({ list: [{}, {}] }, schema) as { list: { inner: object }[] };
    assert.notEqual(list[0]?.inner, list[1]?.inner);
  });

  it('fails with 413 when its repetition in lists would make the object too large', () => {
    const many = Object.fromEntries(Array.from({ length: 1000 }, (_, index) => [`f${index}`, size]));
    const schema = object({ list: { type: 'array', items: object(many) } });
    const list = Array.from({ length: 1000 }, () => ({}));
    assert.throws(
      () => withDefaults({ list }, schema),
      (error) => error instanceof StatusError && error.status.code === 413,
    );
  });
});

describe('nulls that a schema does not allow', () => {
  it('are removed from objects if there is no default', () => {
    const schema = object({
      a: { type: 'string' },
      b: { type: 'string', nullable: true },
      size,
      map: { type: 'object', additionalProperties: { type: 'string' } },
      list: { type: 'array', items: object({ c: { type: 'string' } }) },
    });
    const value = {
      a: null,
      b: null,
      size: null,
      map: { x: null, y: '' },
      list: [null, { c: null }],
      other: null,
    };
    assert.deepEqual(withoutNulls(value, schema), {
      ...{ b: null, size: null, map: { y: '' } },
      ...{ list: [null, {}], other: null },
    });
  });
});
