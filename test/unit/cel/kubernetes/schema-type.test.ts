/** Types from structural schemas. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compile } from '../../../../src/cel/compile.ts';
import { Budget } from '../../../../src/cel/evaluation/run.ts';
import { type SchemaShape, typeOfSchema } from '../../../../src/cel/kubernetes/schema-type.ts';
import { propertyName } from '../../../../src/cel/property-name.ts';
import { showType, type Type } from '../../../../src/cel/types/type.ts';

function typeOf(schema: SchemaShape, isRoot = false): Type {
  const type = typeOfSchema(schema, 'self', isRoot);
  assert.ok(type);
  return type;
}

const sizes: readonly (readonly [schema: SchemaShape, type: string, max: number | undefined])[] = [
  [{ type: 'string', maxLength: 10 }, 'string', 40],
  [{ type: 'string' }, 'string', 3 * 1024 * 1024 - 2],
  [{ type: 'string', enum: ['a', 'abc'] }, 'string', 3],
  [{ type: 'string', format: 'byte', maxLength: 10 }, 'bytes', 10],
  [{ type: 'string', format: 'date-time' }, 'timestamp', 32],
  [{ type: 'string', format: 'duration' }, 'duration', 32],
  [{ type: 'array', items: { type: 'string' }, maxItems: 7 }, 'list(string)', 7],
  [{ type: 'array', items: { type: 'string' } }, 'list(string)', 1048575],
  [{ type: 'array', items: { type: 'boolean' } }, 'list(bool)', 629145],
  [{ type: 'object', additionalProperties: { type: 'integer' } }, 'map(string, int)', 449389],
  [{ 'x-kubernetes-int-or-string': true }, 'dyn', 3 * 1024 * 1024 - 2],
  [{ type: 'number' }, 'double', undefined],
];

test('the maximum size comes from the schema, or from the size of a request', () => {
  for (const [schema, type, max] of sizes) {
    const found = typeOf(schema);
    assert.deepEqual([showType(found), 'max' in found ? found.max : undefined], [type, max]);
  }
});

test('required fields without a default add to the minimum size of each element', () => {
  const required = {
    type: 'object',
    required: ['ab', 'cd'],
    properties: { ab: { type: 'integer' }, cd: {} },
  };
  const element = {
    ...required,
    properties: { ab: { type: 'integer' }, cd: { type: 'integer', default: 1 } },
  };
  const list = typeOf({ type: 'array', items: element });
  assert.equal(list.kind === 'list' && list.max, Math.floor((3 * 1024 * 1024 - 2) / (2 + 2 + 1 + 4 + 1)));
});

const names: readonly (readonly [property: string, escaped: string | undefined])[] = [
  ['foo', 'foo'],
  ['foo-bar', 'foo__dash__bar'],
  ['a.b/c', 'a__dot__b__slash__c'],
  ['a__b', 'a__underscores__b'],
  ['namespace', '__namespace__'],
  ['1a', undefined],
  ['a b', undefined],
  ['$ref', undefined],
  ['', undefined],
];

test('names of fields are escaped, and names that no expression can use are left out', () => {
  for (const [property, escaped] of names)
    assert.deepEqual([property, propertyName(property)], [property, escaped]);
});

test('a resource has its name and its kind, whatever its schema defines', () => {
  const type = typeOf({ type: 'object', properties: { spec: { type: 'object' } } }, true);
  const compiled = compile('self.metadata.name + self.kind', { variables: { self: type } });
  assert.equal(compiled.evaluate({ self: { kind: 'B', metadata: { name: 'a' } } }, new Budget(100)), 'aB');
  assert.throws(
    () => compile('self.metadata.labels', { variables: { self: type } }),
    /undefined field 'labels'/,
  );
});

test('lists with keys are compared by their escaped keys', () => {
  const items = { type: 'object', properties: { 'a-b': { type: 'string' } } };
  const schema = {
    type: 'array',
    items,
    'x-kubernetes-list-type': 'map',
    'x-kubernetes-list-map-keys': ['a-b'],
  };
  const type = typeOf(schema);
  const compiled = compile('self == old', { variables: { self: type, old: type } });
  const [one, two] = [{ 'a-b': '1' }, { 'a-b': '2' }];
  assert.equal(compiled.evaluate({ self: [one, two], old: [two, one] }, new Budget(100)), true);
  assert.equal(compiled.evaluate({ self: [one, two], old: [two, two] }, new Budget(100)), false);
});

test('a schema without a type has no CEL type', () => {
  assert.equal(typeOfSchema({ 'x-kubernetes-embedded-resource': true }, 'self', false), undefined);
  assert.equal(typeOfSchema({ type: 'array', items: {} }, 'self', false), undefined);
});
