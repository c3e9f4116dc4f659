import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ruleCauses, ruleCausesAfter } from '../../../../../src/api/apiextensions/rules/rule-causes.ts';
import type { JsonObject } from '../../../../../src/apimachinery/equality.ts';
import { inOneGo } from '../../../../../src/apimachinery/steps.ts';
import type {
  StructuralSchema,
  ValidationRule,
} from '../../../../../src/apimachinery/structural-schema/schema.ts';

const int: StructuralSchema = { type: 'integer' };
const ruled = (schema: StructuralSchema, ...rules: ValidationRule[]): StructuralSchema => ({
  ...schema,
  'x-kubernetes-validations': rules,
});
const root = (properties: Record<string, StructuralSchema>, ...rules: ValidationRule[]) =>
  ruled({ type: 'object', properties }, ...rules);
const lines = (schema: StructuralSchema, object: JsonObject, old?: JsonObject) =>
  inOneGo(ruleCauses(object, schema, old)).map(({ field, message }) => `${field}: ${message}`);

const cases: readonly (readonly [
  title: string,
  schema: StructuralSchema,
  object: JsonObject,
  old: JsonObject | undefined,
  ...causes: string[],
])[] = [
  ['accepts what its rules allow', root({ a: int }, { rule: 'self.a < 3' }), { a: 2 }, undefined],
  [
    'has the rule as its message',
    root({ a: int }, { rule: ' self.a < 3 ' }),
    { a: 3 },
    undefined,
    '<nil>: Invalid value: "object": failed rule: self.a < 3',
  ],
  [
    'has the message of the rule',
    root({ a: ruled(int, { rule: 'self < 3', message: ' small ' }) }),
    { a: 3 },
    undefined,
    'a: Invalid value: "integer": small',
  ],
  [
    'has the message of an expression',
    root({ a: int }, { rule: 'self.a < 3', messageExpression: '"is " + string(self.a)', message: 'm' }),
    { a: 3 },
    undefined,
    '<nil>: Invalid value: "object": is 3',
  ],
  [
    'has the default message if the message expression fails',
    root({ a: int }, { rule: 'self.a < 3', messageExpression: 'string(1 / (self.a - 3))', message: 'm' }),
    { a: 3 },
    undefined,
    '<nil>: Invalid value: "object": m',
  ],
  [
    'has the default message if the message expression returns an empty string',
    root({ a: int }, { rule: 'self.a < 3', messageExpression: '" "', message: 'm' }),
    { a: 3 },
    undefined,
    '<nil>: Invalid value: "object": m',
  ],
  [
    'has the field of the rule',
    root({ s: root({ a: int }, { rule: 'self.a < 3', fieldPath: '.a', message: 'm' }) }),
    { s: { a: 3 } },
    undefined,
    's.a: Invalid value: "object": m',
  ],
  [
    'has the reason of the rule: required',
    root({ a: int }, { rule: 'false', reason: 'FieldValueRequired', message: 'm' }),
    {},
    undefined,
    '<nil>: Required value: m',
  ],
  [
    'has the reason of the rule: forbidden',
    root({ a: int }, { rule: 'false', reason: 'FieldValueForbidden', message: 'm' }),
    {},
    undefined,
    '<nil>: Forbidden: m',
  ],
  [
    'has the reason of the rule: duplicate',
    root({ a: int }, { rule: 'false', reason: 'FieldValueDuplicate' }),
    {},
    undefined,
    '<nil>: Duplicate value: "object"',
  ],
  [
    'reports a rule that fails',
    root({ a: int }, { rule: 'self.a < 3' }),
    {},
    undefined,
    '<nil>: Invalid value: "object": no such key: a evaluating rule: self.a < 3',
  ],
  [
    'visits items, values of maps and fields',
    root({
      list: { type: 'array', items: ruled(int, { rule: 'self < 3', message: 'l' }) },
      map: { type: 'object', additionalProperties: ruled(int, { rule: 'self < 3', message: 'm' }) },
    }),
    { list: [1, 3], map: { x: 3 } },
    undefined,
    'list[1]: Invalid value: "integer": l',
    'map[x]: Invalid value: "integer": m',
  ],
  [
    'ignores null',
    root({ a: ruled({ ...int, nullable: true }, { rule: 'self < 3' }) }),
    { a: null },
    undefined,
  ],
  [
    'applies no transition rule to a new object',
    root({ a: int }, { rule: 'self.a >= oldSelf.a' }),
    { a: 1 },
    undefined,
  ],
  [
    'applies a transition rule to an update',
    root({ a: int }, { rule: 'self.a >= oldSelf.a', message: 'm' }),
    { a: 1 },
    { a: 2 },
    '<nil>: Invalid value: "object": m',
  ],
  [
    'applies a rule with an optional old value to a new object',
    root({ a: int }, { rule: 'oldSelf.hasValue()', optionalOldSelf: true, message: 'm' }),
    { a: 1 },
    undefined,
    '<nil>: Invalid value: "object": m',
  ],
  [
    'gives a rule the optional old value',
    root({ a: int }, { rule: 'oldSelf.orValue(self).a == 2', optionalOldSelf: true }),
    { a: 1 },
    { a: 2 },
  ],
  [
    'accepts an unchanged value that violates a rule',
    root({ s: root({ a: int }, { rule: 'self.a < 3', message: 'm' }), b: int }),
    { s: { a: 5 }, b: 1 },
    { s: { a: 5 } },
  ],
  [
    'rejects a changed value that violates a rule',
    root({ s: root({ a: int }, { rule: 'self.a < 3', message: 'm' }) }),
    { s: { a: 6 } },
    { s: { a: 5 } },
    's: Invalid value: "object": m',
  ],
  [
    'finds the old item of a list with keys',
    root({
      list: {
        type: 'array',
        'x-kubernetes-list-type': 'map',
        'x-kubernetes-list-map-keys': ['k'],
        items: root({ k: int, v: int }, { rule: 'self.v >= oldSelf.v', message: 'm' }),
      },
    }),
    {
      list: [
        { k: 2, v: 1 },
        { k: 1, v: 0 },
      ],
    },
    {
      list: [
        { k: 1, v: 1 },
        { k: 2, v: 1 },
      ],
    },
    'list[1]: Invalid value: "object": m',
  ],
];

describe('an object with rules', () => {
  for (const [title, schema, object, old, ...causes] of cases)
    it(title, () => {
      assert.deepEqual(lines(schema, object, old), causes);
    });

  it('is rejected for wrong types, and its rules are not evaluated', () => {
    const schema = root({ a: int }, { rule: 'self.a < 3' });
    const wrong = [{ reason: 'FieldValueTypeInvalid', message: 'm', field: 'a' }];
    assert.deepEqual(
      inOneGo(ruleCausesAfter(wrong, { a: 'x' }, schema)).map(({ message }) => message),
      [
        'Invalid value: "null": some validation rules were not checked because the object was invalid; correct the existing errors to complete validation',
      ],
    );
    assert.deepEqual(inOneGo(ruleCausesAfter(wrong, { a: 'x' }, { type: 'object' })), []);
  });

  it('is rejected when one rule costs too much, and no other rule is evaluated', () => {
    const list: StructuralSchema = { type: 'array', items: int };
    const schema = root({ a: list }, { rule: 'self.a.all(x, self.a.all(y, x == y))' }, { rule: 'false' });
    const found = lines(schema, { a: Array.from({ length: 2000 }, () => 1) });
    assert.deepEqual(found, [
      `<nil>: Invalid value: "object": 'operation cancelled: actual cost limit exceeded': no further validation rules will be run due to call cost exceeds limit for rule: self.a.all(x, self.a.all(y, x == y))`,
    ]);
  });

  it('is rejected when all rules together cost too much', () => {
    const list: StructuralSchema = { type: 'array', items: int };
    const rule = { rule: 'self.a.all(x, self.a.all(y, x == y))' };
    const schema = root({ a: list }, ...Array.from({ length: 40 }, () => rule));
    const found = lines(schema, { a: Array.from({ length: 350 }, () => 1) });
    assert.deepEqual(found, [
      '<nil>: Invalid value: "object": validation failed due to running out of cost budget, no further validation rules will be run',
    ]);
  });
});
