import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { pruned } from '../../../../src/apimachinery/structural-schema/pruning.ts';
import type { StructuralSchema } from '../../../../src/apimachinery/structural-schema/schema.ts';

const text: StructuralSchema = { type: 'string' };
const keeping = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } as const;
const object = (properties: Record<string, StructuralSchema>): StructuralSchema => ({
  type: 'object',
  properties,
});

const cases: readonly {
  readonly title: string;
  readonly schema: StructuralSchema;
  readonly value: unknown;
  readonly rest: unknown;
  readonly removed: readonly string[];
}[] = [
  {
    title: 'fields that are not specified, at each depth',
    schema: object({ a: object({ b: text }), list: { type: 'array', items: object({ c: text }) } }),
    value: { x: 1, a: { b: 'b', y: 2 }, list: [{ c: 'c', z: 3 }, 5] },
    rest: { a: { b: 'b' }, list: [{ c: 'c' }, 5] },
    removed: ['a.y', 'list[0].z', 'x'],
  },
  {
    title: 'no key of a map',
    schema: object({ map: { type: 'object', additionalProperties: object({ a: text }) } }),
    value: { map: { one: { a: 'a', b: 1 }, two: {} } },
    rest: { map: { one: { a: 'a' }, two: {} } },
    removed: ['map.one.b'],
  },
  {
    title: 'all fields of map values whose schema specifies none',
    schema: object({ map: { type: 'object', additionalProperties: true } }),
    value: { map: { one: { a: 1 }, two: 'x' } },
    rest: { map: { one: {}, two: 'x' } },
    removed: ['map.one.a'],
  },
  {
    title: 'no unknown field of an object that preserves them, but fields below its known ones',
    schema: object({ free: { ...keeping, properties: { a: object({ b: text }) } } }),
    value: { free: { a: { b: 'b', c: 1 }, other: { deep: [{ x: 1 }] } } },
    rest: { free: { a: { b: 'b' }, other: { deep: [{ x: 1 }] } } },
    removed: ['free.a.c'],
  },
  {
    title: 'no field of items in a list that preserves unknown fields',
    schema: object({
      list: { type: 'array', 'x-kubernetes-preserve-unknown-fields': true, items: object({}) },
    }),
    value: { list: [{ x: { y: 1 } }] },
    rest: { list: [{ x: { y: 1 } }] },
    removed: [],
  },
  {
    title: 'all fields of a field whose schema has no properties',
    schema: object({ a: { type: 'object' } }),
    value: { a: { b: 1 } },
    rest: { a: {} },
    removed: ['a.b'],
  },
  {
    title: 'neither apiVersion nor kind nor metadata of an embedded resource',
    schema: object({
      template: { ...object({ spec: object({}) }), 'x-kubernetes-embedded-resource': true },
    }),
    value: { template: { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'a' }, spec: { x: 1 }, other: 1 } },
    rest: { template: { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'a' }, spec: {} } },
    removed: ['template.other', 'template.spec.x'],
  },
  {
    title: 'a key named __proto__ like any other',
    schema: object({ a: text }),
    value: JSON.parse('{"a":"x","__proto__":{"b":1}}'),
    rest: { a: 'x' },
    removed: ['__proto__'],
  },
];

describe('pruning removes', () => {
  for (const { title, schema, value, rest, removed } of cases)
    it(title, () => {
      const before = JSON.stringify(value);
      assert.deepEqual(pruned(value, schema), { value: rest, removed });
      assert.equal(JSON.stringify(value), before, 'the original is unchanged');
    });

  it('keeps the metadata of an object of the API', () => {
    const value = { apiVersion: 'v1', kind: 'A', metadata: { name: 'a' }, spec: 1 };
    assert.deepEqual(pruned(value, { type: 'object' }, true), {
      value: { apiVersion: 'v1', kind: 'A', metadata: { name: 'a' } },
      removed: ['spec'],
    });
  });
});
