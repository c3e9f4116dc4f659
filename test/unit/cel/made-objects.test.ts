/** Objects that expressions create, and their JSON. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compile } from '../../../src/cel/compile.ts';
import type { Environment } from '../../../src/cel/environment.ts';
import { Budget, requestLimit } from '../../../src/cel/evaluation/run.ts';
import { dyn, type ObjectType, string } from '../../../src/cel/types/type.ts';
import { toJson } from '../../../src/cel/values/to-json.ts';

const step: ObjectType = {
  kind: 'object',
  name: 'Step',
  fields: new Map([
    ['op', { property: 'op', type: string }],
    ['value', { property: 'value', type: dyn }],
  ]),
};
const environment: Environment = {
  variables: { object: dyn, list: dyn },
  madeType(name) {
    if (name === 'Step') return step;
    return name.split('.')[0] === 'Object'
      ? { kind: 'object', name, fields: new Map(), isOpen: true }
      : undefined;
  },
};
const limits = { maxValues: 1000, maxText: 10_000, maxDepth: 50 };
const variables = { object: { a: { b: 'x' }, n: 3 }, list: Array.from({ length: 600 }, (_, at) => at) };

function jsonOf(expression: string): unknown {
  const value = compile(expression, environment).evaluate(variables, new Budget(requestLimit));
  return toJson(value, limits);
}

const values: readonly (readonly [expression: string, value: unknown])[] = [
  ['Object{}', {}],
  ['Object{spec: Object.spec{replicas: 3, paused: true}}', { spec: { replicas: 3, paused: true } }],
  ['Object{list: [Object.list{a: 1}, Object.list{a: 2}]}', { list: [{ a: 1 }, { a: 2 }] }],
  ['Object{map: {"foo/bar": "baz"}}', { map: { 'foo/bar': 'baz' } }],
  ['Object{a: object.a, ?b: object.?b, ?n: object.?n}', { a: { b: 'x' }, n: 3 }],
  ['Object{namespace: "x"}', { namespace: 'x' }],
  ['Object{a: 1}.a == 1', true],
  ['has(Object{a: 1}.b)', false],
  ['Object{a: 1} == Object{a: 2 - 1}', true],
  ['dyn(Object{a: 1}) == dyn(Object.b{a: 1})', false],
  ['Object{a: 1} == Object{a: 1, b: 1}', false],
  ['[Step{op: "add", value: Object{a: 1.5}}]', [{ op: 'add', value: { a: 1.5 } }]],
  ['object.n > 2 ? Step{op: "a"} : Step{op: "b"}', { op: 'a' }],
  [
    'Object{t: timestamp("2024-01-01T00:00:00Z"), d: duration("90s"), b: b"hi", u: 3u, z: null}',
    { t: '2024-01-01T00:00:00Z', d: '90s', b: 'aGk=', u: 3, z: null },
  ],
  ['Object{o: optional.of(1), n: optional.none()}', { o: 1, n: null }],
  ['optional.ofNonZeroValue(Object{}).hasValue()', false],
  ['jsonpatch.escapeKey("a/b~c~1")', 'a~1b~0c~01'],
];

test('an expression creates objects of declared types, which are converted to JSON', () => {
  for (const [expression, value] of values)
    assert.deepEqual([expression, jsonOf(expression)], [expression, value]);
});

test('a field called __proto__ is an ordinary field', () => {
  const made = jsonOf('Object{map: {"__proto__": {"polluted": "yes"}}, __proto__: 1}') as object;
  assert.deepEqual(Object.keys(made), ['map', '__proto__']);
  assert.equal(Object.getPrototypeOf(made), Object.prototype);
  assert.equal(({} as Record<string, unknown>).polluted, undefined);
});

const faults: readonly (readonly [expression: string, message: RegExp])[] = [
  ['Invalid{}', /undeclared reference to 'Invalid'/],
  ['Step{nothing: 1}', /undefined field 'nothing'/],
  ['Step{op: 1}', /expected type of field 'op' is 'string' but provided type is 'int'/],
  ['Step{?op: "a"}', /expected type 'optional_type\(string\)' but found 'string'/],
  ['[Step{}, Object{}]', /expected type 'Step' but found 'Object'/],
];

test('an object of an unknown type, or with a field of the wrong type, is refused', () => {
  for (const [expression, message] of faults)
    assert.throws(() => compile(expression, environment), { name: 'CelError', message });
  assert.throws(() => compile('Object{}', { variables: {} }), /undeclared reference to 'Object'/);
});

const unwritable: readonly (readonly [expression: string, message: RegExp])[] = [
  ['Object{a: {1: "x"}}', /map key 1 is of type int, not string/],
  ['Object{a: type(1)}', /a value of type type cannot be represented in JSON/],
  ['Object{a: 1.0 / 0.0}', /Infinity cannot be represented in JSON/],
  ['Object{a: list, b: list}', /the value has more than 1000 parts/],
  [`Object{a: "${'x'.repeat(10_000)}"}`, /the value has more than 10000 characters/],
  [`Object{a: ${'['.repeat(60)}${']'.repeat(60)}}`, /the value is nested deeper than 50 levels/],
];

test('a value that JSON cannot represent, or that is too large, is an error', () => {
  for (const [expression, message] of unwritable)
    assert.throws(() => jsonOf(expression), { name: 'CelError', message });
});

test('an object costs 40 in addition to its fields', () => {
  const { estimatedCost } = compile('Object{spec: Object.spec{a: object.n}}', environment);
  assert.deepEqual(estimatedCost, { min: 81, max: 81 });
  const budget = new Budget(requestLimit);
  compile('Object{spec: Object.spec{a: object.n}}', environment).evaluate(variables, budget);
  assert.equal(requestLimit - budget.remaining, 82);
});
