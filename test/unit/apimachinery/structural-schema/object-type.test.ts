import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { kubernetesFields } from '../../../../src/api/field-table.ts';
import { type FieldType, type ObjectType, requiredType } from '../../../../src/apimachinery/field-types.ts';
import { elementOf, shapeOfField } from '../../../../src/apimachinery/managed-fields/shape.ts';
import { objectTypeFromStructural } from '../../../../src/apimachinery/structural-schema/object-type.ts';
import type { StructuralSchema } from '../../../../src/apimachinery/structural-schema/schema.ts';

const meta = requiredType(kubernetesFields, 'meta.v1.ObjectMeta');
const typeOf = (properties: Record<string, StructuralSchema>): ObjectType =>
  objectTypeFromStructural('Thing', { type: 'object', properties, required: ['text'] }, meta);

function fieldOf(type: ObjectType, name: string) {
  const field = type.fields.get(name);
  assert.ok(field);
  return field;
}

const cases: readonly (readonly [schema: StructuralSchema, type: FieldType])[] = [
  [{ type: 'string' }, { kind: 'scalar', scalar: 'string' }],
  [{ type: 'integer' }, { kind: 'scalar', scalar: 'int64' }],
  [
    { type: 'integer', format: 'int32' },
    { kind: 'scalar', scalar: 'int32' },
  ],
  [{ type: 'number' }, { kind: 'scalar', scalar: 'double' }],
  [{ type: 'boolean' }, { kind: 'scalar', scalar: 'bool' }],
  [{ 'x-kubernetes-int-or-string': true }, { kind: 'scalar', scalar: 'intOrString' }],
  [{ 'x-kubernetes-preserve-unknown-fields': true }, { kind: 'any' }],
  [{ type: 'object', 'x-kubernetes-preserve-unknown-fields': true }, { kind: 'any' }],
  [
    { type: 'array', items: { type: 'string' } },
    { kind: 'list', items: { kind: 'scalar', scalar: 'string' } },
  ],
  [
    { type: 'object', additionalProperties: { type: 'boolean' } },
    { kind: 'map', values: { kind: 'scalar', scalar: 'bool' } },
  ],
  [
    { type: 'object', additionalProperties: true },
    { kind: 'map', values: { kind: 'any' } },
  ],
];

describe('the object type of a schema', () => {
  for (const [schema, type] of cases)
    it(`has ${JSON.stringify(type)} for ${JSON.stringify(schema)}`, () => {
      assert.deepEqual(fieldOf(typeOf({ a: schema }), 'a').type, type);
    });

  it('has the fields of all objects, whatever the schema defines', () => {
    const type = typeOf({
      kind: { type: 'integer' },
      metadata: { type: 'object' },
      text: { type: 'string' },
    });
    assert.deepEqual([...type.fields.keys()], ['apiVersion', 'kind', 'metadata', 'text']);
    assert.deepEqual(fieldOf(type, 'metadata').type, { kind: 'object', object: meta });
    assert.equal(fieldOf(type, 'text').required, true);
  });

  it('owns sets by value, lists with keys by key, and atomic objects as a whole', () => {
    const type = typeOf({
      set: { type: 'array', 'x-kubernetes-list-type': 'set', items: { type: 'string' } },
      atomic: { type: 'object', 'x-kubernetes-map-type': 'atomic', properties: { a: { type: 'string' } } },
      list: {
        type: 'array',
        'x-kubernetes-list-type': 'map',
        'x-kubernetes-list-map-keys': ['name', 'protocol'],
        items: {
          type: 'object',
          properties: { name: { type: 'string' }, protocol: { type: 'string', default: 'TCP' } },
        },
      },
    });
    const shape = (name: string) => shapeOfField(fieldOf(type, name));
    assert.equal(shape('atomic').kind, 'leaf');
    const [set, list] = [shape('set'), shape('list')];
    assert.ok(set.kind === 'list' && list.kind === 'list');
    assert.equal(elementOf(set, 'a'), 'v:"a"');
    assert.equal(
      elementOf(list, { name: 'x' }),
      'k:{"name":"x","protocol":"TCP"}',
      'a missing key has its default',
    );
  });
});
