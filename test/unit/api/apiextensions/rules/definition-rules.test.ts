import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { definitionRuleCauses } from '../../../../../src/api/apiextensions/rules/definition-rules.ts';
import { inOneGo } from '../../../../../src/apimachinery/steps.ts';
import type {
  StructuralSchema,
  ValidationRule,
} from '../../../../../src/apimachinery/structural-schema/schema.ts';

const text: StructuralSchema = { type: 'string' };
const root = (
  properties: Record<string, StructuralSchema>,
  ...rules: ValidationRule[]
): StructuralSchema => ({
  type: 'object',
  properties,
  ...(rules.length > 0 && { 'x-kubernetes-validations': rules }),
});
const lines = (schema: StructuralSchema) =>
  inOneGo(definitionRuleCauses(schema, 'S')).map(({ field, message }) => `${field}: ${message}`);
const at = 'S.x-kubernetes-validations[0]';

describe('a rule of a definition', () => {
  const right: Readonly<Record<string, StructuralSchema>> = {
    'reads fields': root({ a: { ...text, maxLength: 10 } }, { rule: 'self.a == "x"' }),
    'reads names with special characters': root(
      { 'a-b': text, namespace: text },
      { rule: 'self.a__dash__b == self.__namespace__' },
    ),
    'reads the metadata of an object': root({}, { rule: 'self.metadata.name.startsWith("x")' }),
    'compares with the old value': root({ n: { type: 'integer' } }, { rule: 'self.n >= oldSelf.n' }),
    'compares with an optional old value': root(
      { n: { type: 'integer' } },
      { rule: 'oldSelf.hasValue() || self.n == 0', optionalOldSelf: true },
    ),
    'compares items of a list with keys': root({
      list: {
        type: 'array',
        maxItems: 10,
        'x-kubernetes-list-type': 'map',
        'x-kubernetes-list-map-keys': ['k'],
        items: { ...root({ k: { ...text, maxLength: 5 } }, { rule: 'self == oldSelf' }), required: ['k'] },
      },
    }),
    'accepts a number or a text': root({
      port: {
        'x-kubernetes-int-or-string': true,
        'x-kubernetes-validations': [{ rule: 'string(self) != ""' }],
      },
    }),
    'has a message from an expression': root(
      { a: { ...text, maxLength: 3 } },
      { rule: 'self.a != "x"', messageExpression: '"not " + self.a' },
    ),
  };
  for (const [title, schema] of Object.entries(right))
    it(`${title}`, () => {
      assert.deepEqual(lines(schema), []);
    });

  const wrong: Readonly<Record<string, readonly [StructuralSchema, RegExp]>> = {
    'with a syntax error': [
      root({}, { rule: 'self.' }),
      /^S\.x-kubernetes-validations\[0\]\.rule: Invalid value: \{"rule":"self\."\}: compilation failed: ERROR: <input>:1:/,
    ],
    'on a field that does not exist': [
      root({ a: text }, { rule: 'self.b == "x"' }),
      /compilation failed: ERROR: <input>:1:5: undefined field 'b'/,
    ],
    'with a wrong type': [root({ a: text }, { rule: 'self.a > 1' }), /found no matching overload for '_>_'/],
    'that does not return a boolean': [
      root({ a: text }, { rule: 'self.a' }),
      /\.rule: Invalid value: .*: cel expression must evaluate to a bool$/,
    ],
    'with a messageExpression that does not return a string': [
      root({ n: { type: 'integer' } }, { rule: 'self.n > 1', messageExpression: 'self.n' }),
      /\.messageExpression: Invalid value: .*: messageExpression must evaluate to a string$/,
    ],
    'with a message that does not compile': [
      root({}, { rule: 'true', messageExpression: 'self.x' }),
      /messageExpression compilation failed: ERROR: <input>:1:5/,
    ],
    'with optionalOldSelf that does not use oldSelf': [
      root({}, { rule: 'true', optionalOldSelf: true }),
      /\.optionalOldSelf: Invalid value: true: may not be set if oldSelf is not used in rule$/,
    ],
    'that compares items of a list without keys with their old values': [
      root({
        list: {
          type: 'array',
          maxItems: 3,
          items: { ...text, maxLength: 3, 'x-kubernetes-validations': [{ rule: 'self == oldSelf' }] },
        },
      }),
      /^S\.properties\[list\]\.items\.x-kubernetes-validations\[0\]\.rule: Invalid value: "self == oldSelf": oldSelf cannot be used on the uncorrelatable portion of the schema within S\.properties\[list\]$/,
    ],
    'on values without a type': [
      root({
        a: { 'x-kubernetes-preserve-unknown-fields': true, 'x-kubernetes-validations': [{ rule: 'true' }] },
      }),
      /^S\.properties\[a\]\.x-kubernetes-validations: Internal error: internal error: failed to construct type information/,
    ],
    'that the default of its value violates': [
      root({
        n: {
          type: 'integer',
          default: 1,
          'x-kubernetes-validations': [{ rule: 'self > 1', message: 'too small' }],
        },
      }),
      /^S\.properties\[n\]\.default: Invalid value: "integer": too small$/,
    ],
  };
  for (const [title, [schema, message]] of Object.entries(wrong))
    it(`${title} is rejected`, () => {
      const found = lines(schema);
      assert.equal(found.length, 1, found.join('\n'));
      assert.match(found[0] ?? '', message);
    });

  it('is rejected if a nested loop could cost too much', () => {
    const list: StructuralSchema = { type: 'array', items: text };
    const found = lines(root({ a: list }, { rule: 'self.a.all(x, self.a.all(y, x == y))' }));
    assert.match(
      found[0] ?? '',
      /rule: Forbidden: estimated rule cost exceeds budget by factor of more than 100x \(try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are declared\)$/,
    );
    assert.equal(
      found[1],
      `${at}.rule: Forbidden: contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema`,
    );
    assert.match(
      found[2] ?? '',
      /^S: Forbidden: x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema exceeds budget/,
    );
    const small: StructuralSchema = { type: 'array', maxItems: 10, items: { ...text, maxLength: 10 } };
    assert.deepEqual(lines(root({ a: small }, { rule: 'self.a.all(x, self.a.all(y, x == y))' })), []);
  });
});
