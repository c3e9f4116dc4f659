import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { inOneGo } from '../../../../src/apimachinery/steps.ts';
import {
  isStructural,
  nonStructuralMessage,
  schemaCauses,
} from '../../../../src/apimachinery/structural-schema/definition-causes.ts';
import type { WrittenSchema } from '../../../../src/apimachinery/structural-schema/schema.ts';

const lines = (schema: unknown, hasStatus = false) =>
  inOneGo(schemaCauses(schema as WrittenSchema, 'S', { hasStatus })).map(
    ({ field, message }) => `${field}: ${message}`,
  );

const root = (properties: Record<string, unknown>, more: object = {}) => ({
  type: 'object',
  properties,
  ...more,
});
const text = { type: 'string' };
const keyed = { type: 'array', 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['k'] };

/** Schemas with their causes; a part of a message is enough. */
const cases: Readonly<Record<string, readonly (readonly [schema: unknown, ...causes: string[]])[]>> = {
  'is accepted': [
    [root({ a: text, n: { type: 'object', additionalProperties: { type: 'array', items: text } } })],
    [{ type: 'object', 'x-kubernetes-preserve-unknown-fields': true }],
    [root({ metadata: { type: 'object', properties: { name: { type: 'string', maxLength: 3 } } } })],
    [
      root({
        port: {
          'x-kubernetes-int-or-string': true,
          anyOf: [{ type: 'integer' }, { type: 'string' }],
          pattern: 'x',
        },
      }),
    ],
    [
      root({
        port: {
          'x-kubernetes-int-or-string': true,
          allOf: [{ anyOf: [{ type: 'integer' }, { type: 'string' }] }, { pattern: 'x' }],
        },
      }),
    ],
    [root({ a: text }, { anyOf: [{ properties: { a: { pattern: 'x' } }, required: ['a'] }] })],
    [root({ l: { ...keyed, items: { ...root({ k: text }), required: ['k'] } } })],
    [root({ l: { ...keyed, items: root({ k: { ...text, default: 'x' } }) } })],
    [
      root({
        e: {
          type: 'object',
          'x-kubernetes-embedded-resource': true,
          'x-kubernetes-preserve-unknown-fields': true,
          default: { apiVersion: 'v1', kind: 'Pod' },
        },
      }),
    ],
  ],
  'is not structural': [
    [{}, 'S.type: Required value: must not be empty at the root'],
    [
      { type: 'array' },
      'S.items: Required value: must be specified',
      'S.type: Invalid value: "array": must be object at the root',
    ],
    [root({ a: {} }), 'S.properties[a].type: Required value: must not be empty for specified object fields'],
    [
      root({ a: { type: 'array', items: {} } }),
      'S.properties[a].items.type: Required value: must not be empty for specified array items',
    ],
    [
      { type: 'object', additionalProperties: text },
      'S.additionalProperties: Forbidden: must not be used at the root',
    ],
    [
      root({ a: { 'x-kubernetes-int-or-string': true, 'x-kubernetes-preserve-unknown-fields': true } }),
      'S.properties[a].x-kubernetes-preserve-unknown-fields: Invalid value: true: must be false if x-kubernetes-int-or-string is true',
    ],
    [
      root({ a: { 'x-kubernetes-embedded-resource': true, 'x-kubernetes-preserve-unknown-fields': true } }),
      'S.properties[a].type: Required value: must be object if x-kubernetes-embedded-resource is true',
    ],
    [
      root({ a: { type: 'object', 'x-kubernetes-embedded-resource': true } }),
      'S.properties[a].properties: Required value: must not be empty if x-kubernetes-embedded-resource is true without x-kubernetes-preserve-unknown-fields',
    ],
    [
      root({ kind: { type: 'integer' } }),
      'S.properties[kind].type: Invalid value: "integer": must be string',
    ],
    [
      root({ metadata: { type: 'string' } }),
      'S.properties[metadata].type: Invalid value: "string": must be object',
    ],
    [
      root({ metadata: root({ labels: { type: 'object' } }) }),
      'S.properties[metadata]: Forbidden: must not specify anything other than name and generateName, but metadata is implicitly specified',
    ],
    [
      root({ a: { ...text, pattern: '(' } }),
      'S.properties[a].pattern: Invalid value: "(": must be a valid regular expression, but isn\'t: error parsing regexp: missing closing ): `(`',
    ],
    [
      root({
        a: {
          ...text,
          allOf: [{ type: 'string', default: 'x', description: 'd', title: 't', nullable: true }],
        },
      }),
      'S.properties[a].allOf[0].default: Forbidden: must be undefined to be structural',
      'S.properties[a].allOf[0].description: Forbidden: must be empty to be structural',
      'S.properties[a].allOf[0].nullable: Forbidden: must be false to be structural',
      'S.properties[a].allOf[0].title: Forbidden: must be empty to be structural',
      'S.properties[a].allOf[0].type: Forbidden: must be empty to be structural',
    ],
    [
      root({ a: text }, { not: { properties: { b: { pattern: 'x' } } } }),
      'S.properties[b]: Required value: because it is defined in S.not.properties[b]',
    ],
    [
      root({ a: text }, { anyOf: [{ properties: { metadata: { required: ['x'] } } }] }),
      'S.anyOf[0].properties[metadata]: Forbidden: must not be specified in a nested context',
      'S.properties[metadata]: Required value: because it is defined in S.anyOf[0].properties[metadata]',
    ],
  ],
  'has keywords that are rejected': [
    [root({ a: { ...text, $ref: '#/x' } }), 'S.properties[a].$ref: Forbidden: $ref is not supported'],
    [
      root({ a: { ...text, definitions: { x: text } } }),
      'S.properties[a].definitions: Forbidden: definitions is not supported',
    ],
    [
      root({ a: { ...text, dependencies: {} } }),
      'S.properties[a].dependencies: Forbidden: dependencies is not supported',
    ],
    [
      root({ a: { ...text, additionalItems: false } }),
      'S.properties[a].additionalItems: Forbidden: additionalItems is not supported',
    ],
    [
      root({ a: { ...text, patternProperties: { x: text } } }),
      'S.properties[a].patternProperties: Forbidden: patternProperties is not supported',
    ],
    [root({ a: { ...text, id: 'x' } }), 'S.properties[a].id: Forbidden: id is not supported'],
    [
      root({ a: { ...text, $schema: 'x' } }),
      'S: Invalid value: "": OpenAPIV3Schema \'schema\' is not supported',
    ],
    [
      root({ a: { type: 'array', items: [text] } }),
      'S.properties[a].items: Forbidden: items must be a schema object and not an array',
    ],
    [
      root({ a: { type: 'array', items: text, uniqueItems: true } }),
      'S.properties[a].uniqueItems: Forbidden: uniqueItems cannot be set to true since the runtime complexity becomes quadratic',
    ],
    [
      root({ a: { type: 'null' } }),
      'S.properties[a].type: Unsupported value: "null": supported values: "array", "boolean", "integer", "number", "object", "string"',
      'S.properties[a].type: Forbidden: type cannot be set to null, use nullable as an alternative',
    ],
    [
      root({ a: { ...root({ b: text }), additionalProperties: text } }),
      'S.properties[a].additionalProperties: Forbidden: additionalProperties and properties are mutual exclusive',
    ],
    [{ ...root({}), nullable: true }, 'S.nullable: Forbidden: nullable cannot be true at the root'],
    [
      root({ a: { ...text, 'x-kubernetes-preserve-unknown-fields': false } }),
      'S.properties[a].x-kubernetes-preserve-unknown-fields: Invalid value: false: must be true or undefined',
    ],
    [
      root({ a: text }, { 'x-kubernetes-validations': [{ rule: 'self.a == "x"' }] }),
      'S.x-kubernetes-validations: Forbidden: ',
    ],
  ],
  'has lists and maps of a wrong kind': [
    [
      root({ a: { ...text, 'x-kubernetes-list-type': 'set' } }),
      'S.properties[a].type: Invalid value: "string": must be array if x-kubernetes-list-type is specified',
    ],
    [
      root({ a: { ...text, 'x-kubernetes-map-type': 'atomic' } }),
      'S.properties[a].type: Invalid value: "string": must be object if x-kubernetes-map-type is specified',
    ],
    [
      root({ a: { type: 'object', 'x-kubernetes-map-type': 'whole' } }),
      'S.properties[a].x-kubernetes-map-type: Unsupported value: "whole": supported values: "atomic", "granular"',
    ],
    [
      root({ a: { type: 'array', items: text, 'x-kubernetes-list-type': 'bag' } }),
      'S.properties[a].x-kubernetes-list-type: Unsupported value: "bag": supported values: "atomic", "set", "map"',
    ],
    [
      root({ a: { type: 'array', items: root({}), 'x-kubernetes-list-type': 'set' } }),
      'S.properties[a].items.x-kubernetes-map-type: Invalid value: "null": must be atomic as item of a list with x-kubernetes-list-type=set',
    ],
    [
      root({ a: { type: 'array', items: text, 'x-kubernetes-list-map-keys': ['k'] } }),
      'S.properties[a].x-kubernetes-list-type: Required value: must be map if x-kubernetes-list-map-keys is non-empty',
    ],
    [
      root({ a: { type: 'array', items: root({}), 'x-kubernetes-list-type': 'map' } }),
      'S.properties[a].x-kubernetes-list-map-keys: Required value: must not be empty if x-kubernetes-list-type is map',
    ],
    [
      root({ a: { ...keyed, items: text } }),
      'S.properties[a].items.type: Invalid value: "string": must be object if parent array\'s x-kubernetes-list-type is map',
    ],
    [
      root({ a: { ...keyed, items: root({ j: text }) } }),
      'S.properties[a].x-kubernetes-list-map-keys: Invalid value: ["k"]: entries must all be names of item properties',
    ],
    [
      root({
        a: {
          ...keyed,
          'x-kubernetes-list-map-keys': ['k', 'k'],
          items: { ...root({ k: text }), required: ['k'] },
        },
      }),
      'S.properties[a].x-kubernetes-list-map-keys: Invalid value: ["k","k"]: must not contain duplicate entries',
    ],
    [
      root({ a: { ...keyed, items: { ...root({ k: root({}) }), required: ['k'] } } }),
      'S.properties[a].items.properties[k].type: Invalid value: "object": must be a scalar type if parent array\'s x-kubernetes-list-type is map',
    ],
    [
      root({ a: { ...keyed, items: root({ k: text }) } }),
      'S.properties[a].items.properties[k].default: Required value: this property is in x-kubernetes-list-map-keys, so it must have a default or be a required property',
    ],
    [
      root({
        a: {
          ...keyed,
          items: { ...root({ k: { ...text, nullable: true } }), required: ['k'], nullable: true },
        },
      }),
      'S.properties[a].items.nullable: Forbidden: cannot be nullable when x-kubernetes-list-type is map',
      'S.properties[a].items.properties[k].nullable: Forbidden: this property is in x-kubernetes-list-map-keys, so it cannot be nullable',
    ],
  ],
  'has a wrong default': [
    [
      root({ a: { ...text, default: 1 } }),
      'S.properties[a].default: Invalid value: "integer":  in body must be of type string: "integer"',
    ],
    [
      root({ a: { ...root({ b: text }), default: { c: 1 } } }),
      'S.properties[a].default: Invalid value: {"c":1}: must not have unknown fields',
    ],
    [
      root({ a: { ...root({ b: { type: 'integer', minimum: 1 } }), default: { b: 0 } } }),
      'S.properties[a].default.b: Invalid value: 0: b in body should be greater than or equal to 1',
    ],
    [
      root({ metadata: root({ name: { ...text, default: 'x' } }) }),
      'S.properties[metadata].properties[name].default: Forbidden: must not be set in top-level metadata',
    ],
    [
      root({ e: { ...root({ kind: { ...text, default: '%' } }), 'x-kubernetes-embedded-resource': true } }),
      'S.properties[e].properties[kind].default: Invalid value: "%": must result in valid metadata: kind: Invalid value: "%": may have mixed case, but should otherwise match: ',
    ],
  ],
  'has keywords of a wrong JSON type': [
    [5, 'S: Invalid value: 5: must be a schema'],
    [root({ a: null }), 'S.properties[a]: Invalid value: null: must be a schema'],
    [
      root({ a: { type: 'array', items: { type: 'object', required: 5 } } }),
      'S.properties[a].items.required: Invalid value: 5: must be a list of strings',
    ],
    [
      root({ a: { type: 'array', items: { allOf: {} } } }),
      'S.properties[a].items.allOf: Invalid value: {}: must be a list',
    ],
    [
      root({ a: { additionalProperties: null } }),
      'S.properties[a].additionalProperties: Invalid value: null: must be a schema',
    ],
    [
      root({ a: { type: 'array', items: { 'x-kubernetes-validations': [{ rule: 1 }] } } }),
      'S.properties[a].items.x-kubernetes-validations[0].rule: Invalid value: 1: must be a string',
    ],
  ],
};

describe('the schema of a definition', () => {
  for (const [title, table] of Object.entries(cases))
    for (const [schema, ...causes] of table)
      it(`${title}: ${JSON.stringify(schema)}`, () => {
        const found = lines(schema);
        assert.equal(found.length, causes.length, found.join('\n'));
        for (const [index, cause] of causes.entries())
          assert.ok(found[index]?.startsWith(cause), `${found[index]} does not begin with ${cause}`);
      });

  it('may have only few keywords at its root if the status is a subresource', () => {
    assert.deepEqual(lines(root({ a: text }, { required: ['a'], description: 'd' }), true), []);
    assert.match(
      lines(root({ a: text }, { anyOf: [{ required: ['a'] }] }), true).join(),
      /only \[Description Type Format Title .* XPreserveUnknownFields XValidations\] fields are allowed at the root/,
    );
  });

  it('has a message for the condition of definitions that are not structural', () => {
    assert.equal(isStructural(root({ a: text }) as WrittenSchema), true);
    assert.equal(nonStructuralMessage(root({ a: text }) as WrittenSchema, 'S'), undefined);
    assert.equal(isStructural(root({ a: {} }) as WrittenSchema), false);
    assert.equal(
      nonStructuralMessage({ properties: { a: {} } }, 'S'),
      '[S.properties[a].type: Required value: must not be empty for specified object fields, S.type: Required value: must not be empty at the root]',
    );
    assert.equal(
      nonStructuralMessage(root({ a: { $ref: 'x' } }) as WrittenSchema, 'S'),
      'S: Invalid value: "": OpenAPIV3Schema \'$ref\' is not supported',
    );
  });
});

describe('rules of a schema', () => {
  const rule = (one: object) => root({ a: text }, { 'x-kubernetes-validations': [one] });
  const at = 'S.x-kubernetes-validations[0]';
  const table: readonly (readonly [rule: object, cause: string])[] = [
    [{ rule: ' ' }, `${at}.rule: Required value: rule is not specified`],
    [
      { rule: 'x', message: ' ' },
      `${at}.message: Invalid value: " ": message must be non-empty if specified`,
    ],
    [
      { rule: 'x', message: 'a\nb' },
      `${at}.message: Invalid value: "a\\nb": message must not contain line breaks`,
    ],
    [
      { rule: 'x\ny' },
      `${at}.message: Required value: message must be specified if rule contains line breaks`,
    ],
    [
      { rule: 'x', messageExpression: ' ' },
      `${at}.messageExpression: Required value: messageExpression must be non-empty if specified`,
    ],
    [
      { rule: 'x', reason: 'Odd' },
      `${at}.reason: Unsupported value: "Odd": supported values: "FieldValueDuplicate", "FieldValueForbidden", "FieldValueInvalid", "FieldValueRequired"`,
    ],
    [{ rule: 'x', fieldPath: '.b' }, `${at}.fieldPath: Invalid value: ".b": fieldPath must be a valid path`],
  ];
  for (const [one, cause] of table)
    it(`are rejected as ${JSON.stringify(one)}`, () => {
      assert.deepEqual(lines(rule(one)), [cause]);
    });
});

describe('a schema that is large', () => {
  it('is checked with 10,000 properties', () => {
    const many = Object.fromEntries(Array.from({ length: 10_000 }, (_, index) => [`p${index}`, text]));
    assert.deepEqual(lines(root(many)), []);
  });

  it('is checked with 100 levels, and rejected with 1,000', () => {
    const nested = (levels: number) => {
      let schema: object = text;
      for (let level = 0; level < levels; level++) schema = { type: 'array', items: schema };
      return root({ a: schema });
    };
    assert.deepEqual(lines(nested(100)), []);
    assert.match(lines(nested(1000)).join(), /must not be nested deeper than 200 levels/);
  });
});
