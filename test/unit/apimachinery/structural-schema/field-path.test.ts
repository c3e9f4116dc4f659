import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fieldAtPath } from '../../../../src/apimachinery/structural-schema/field-path.ts';
import type { StructuralSchema } from '../../../../src/apimachinery/structural-schema/schema.ts';

const schema: StructuralSchema = {
  type: 'object',
  properties: {
    spec: {
      type: 'object',
      properties: {
        size: { type: 'integer' },
        'a.b': { type: 'string' },
        labels: { type: 'object', additionalProperties: { type: 'boolean' } },
      },
    },
  },
};

const found: readonly (readonly [path: string, type: string, shown: string])[] = [
  ['.spec.size', 'integer', 'spec.size'],
  [".spec['a.b']", 'string', 'spec.a.b'],
  ['.spec.labels.x', 'boolean', 'spec.labels[x]'],
  [".spec.labels['it\\'s']", 'boolean', "spec.labels[it's]"],
];
const wrong: readonly (readonly [path: string, error: string])[] = [
  ['spec', 'expected [ or . but got: spec'],
  ['.', 'unexpected end of JSON path'],
  ['.spec.colour', 'does not refer to a valid field'],
  ['.spec.size.more', 'does not refer to a valid field'],
  ['.constructor', 'does not refer to a valid field'],
  ['.spec[', 'unexpected end of JSON path'],
  ['.spec[0]', 'expected single quoted string but got 0'],
  [".spec['size'", 'unexpected end of JSON path'],
  [".spec['size'x", 'expected ] but got x'],
];

describe('a path to a field', () => {
  for (const [path, type, shown] of found)
    it(`${path} leads to ${shown}`, () => {
      const field = fieldAtPath(path, schema);
      assert.ok('schema' in field, JSON.stringify(field));
      assert.deepEqual([field.schema.type, field.path], [type, shown]);
    });
  for (const [path, error] of wrong)
    it(`${path} is rejected`, () => {
      assert.deepEqual(fieldAtPath(path, schema), { error });
    });
  it('has no brackets if they are not allowed', () => {
    assert.deepEqual(fieldAtPath(".spec['size']", schema, false), { error: 'array notation is not allowed' });
  });
});
