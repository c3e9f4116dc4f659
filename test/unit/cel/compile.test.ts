/** Environments, typed objects, budgets, and estimates from maximum sizes. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compile } from '../../../src/cel/compile.ts';
import type { Environment } from '../../../src/cel/environment.ts';
import { Budget, matchConditionsLimit, perCallLimit, requestLimit } from '../../../src/cel/evaluation/run.ts';
import { Authorizer, type AuthorizerQuestion } from '../../../src/cel/kubernetes/authorizer.ts';
import { typeOfSchema } from '../../../src/cel/kubernetes/schema-type.ts';
import * as types from '../../../src/cel/types/type.ts';
import { shown } from '../../fixtures/cel/shown.ts';

const port: types.ObjectType = {
  kind: 'object',
  name: 'port',
  fields: new Map([
    ['name', { property: 'name', type: types.string }],
    ['number', { property: 'number', type: types.int }],
  ]),
};
const spec: types.ObjectType = {
  kind: 'object',
  name: 'spec',
  fields: new Map<string, types.FieldType>([
    ['replicas', { property: 'replicas', type: types.int }],
    ['ratio', { property: 'ratio', type: types.double }],
    ['foo__dash__bar', { property: 'foo-bar', type: { ...types.string, max: 10 } }],
    ['__namespace__', { property: 'namespace', type: types.string }],
    [
      'names',
      {
        property: 'names',
        type: { ...types.listOf({ ...types.string, max: 5 }), max: 20, uniqueBy: 'value' },
      },
    ],
    ['ports', { property: 'ports', type: { ...types.listOf(port), max: 8, uniqueBy: ['name'] } }],
    ['since', { property: 'since', type: types.timestamp }],
    ['wait', { property: 'wait', type: types.duration }],
    ['data', { property: 'data', type: types.bytes }],
    ['labels', { property: 'labels', type: { ...types.mapOf(types.string, types.string), max: 3 } }],
  ]),
};
const typed: Environment = { variables: { self: spec, oldSelf: spec } };
const self = {
  replicas: 3,
  ratio: 1,
  'foo-bar': 'x',
  namespace: 'default',
  names: ['a', 'b'],
  ports: [
    { name: 'http', number: 80 },
    { name: 'https', number: 443 },
  ],
  since: '2024-01-01T00:00:00Z',
  wait: '90s',
  data: 'aGk=',
  labels: { a: 'b' },
};

function evaluate(expression: string, environment: Environment, variables: Record<string, unknown>): unknown {
  return shown(compile(expression, environment).evaluate(variables, new Budget(matchConditionsLimit)));
}

const values: readonly (readonly [expression: string, value: unknown])[] = [
  ['self.replicas', 'int:3'],
  ['self.ratio', 'double:1'],
  ['self.foo__dash__bar', 'x'],
  ['self.namespace', 'default'],
  ['self.__namespace__', 'default'],
  ['self.since < timestamp("2025-01-01T00:00:00Z")', true],
  ['self.wait == duration("1m30s")', true],
  ['string(self.data)', 'hi'],
  ['self.labels.a', 'b'],
  ['self.labels["a"]', 'b'],
  ['self == oldSelf', true],
  ['self.ports.filter(p, p.number > 100).map(p, p.name)', ['https']],
  ['self.ports.all(p, has(p.name))', true],
];

test('an expression reads fields by their declared types and escaped names', () => {
  for (const [expression, value] of values)
    assert.deepEqual([expression, evaluate(expression, typed, { self, oldSelf: self })], [expression, value]);
});

test('an expression compares and adds sets and lists with keys independently of their order', () => {
  const oldSelf = { ...self, names: ['b', 'a'], ports: self.ports.toReversed() };
  const variables = { self, oldSelf };
  assert.equal(evaluate('self.names == oldSelf.names', typed, variables), true);
  assert.equal(evaluate('self.ports == oldSelf.ports', typed, variables), true);
  assert.equal(evaluate('self.names == ["a", "c"]', typed, variables), false);
  assert.deepEqual(evaluate('self.names + ["b", "c"]', typed, variables), ['a', 'b', 'c']);
  assert.equal(evaluate('(self.ports + oldSelf.ports).size()', typed, variables), 'int:2');
});

test('keys of objects are distinguished from properties of their prototype', () => {
  const variables = { self: { labels: JSON.parse('{"__proto__": "x", "constructor": "y"}') } };
  assert.equal(evaluate('self.labels.size()', typed, variables), 'int:2');
  assert.equal(evaluate('has(self.labels.toString)', typed, variables), false);
  assert.throws(() => evaluate('double("constructor")', typed, variables), /type conversion error/);
  assert.throws(() => evaluate('"%f".format(["constructor"])', typed, variables), /only be used on doubles/);
  assert.throws(
    () => evaluate('hasOwnProperty == 1', { variables: {} }, {}),
    /undeclared reference to 'hasOwnProperty'/,
  );
});

const faults: readonly (readonly [expression: string, fault: string])[] = [
  ['self.nope', "undefined field 'nope'\n | self.nope\n | ....^"],
  ['self.replicas.x', "type 'int' does not support field selection"],
  ['self.replicas + self.foo__dash__bar', "found no matching overload for '_+_' applied to '(int, string)'"],
  ['self.names.startsWith("a")', "applied to 'list(string).(string)'"],
  ['self.ports.map(p, p.nope)', "undefined field 'nope'"],
  ['self.replicas.all(x, x)', "expression of type 'int' cannot be range of a comprehension"],
  ['Object{a: 1}', "undeclared reference to 'Object' (in container '')"],
  ['"a\nb" + 1', 'token recognition error'],
];

test("expressions with wrong types are rejected with upstream's messages", () => {
  for (const [expression, fault] of faults) {
    assert.throws(
      () => compile(expression, typed),
      ({ message }: Error) =>
        message.startsWith('compilation failed: ERROR: <input>:') && message.includes(fault),
      expression,
    );
  }
});

test('all errors of an expression are reported in the order of their positions', () => {
  assert.throws(() => compile('a +\n b', { variables: {} }), {
    name: 'CelError',
    message:
      "compilation failed: ERROR: <input>:1:1: undeclared reference to 'a' (in container '')\n | a +\n | ^\n" +
      "ERROR: <input>:2:2: undeclared reference to 'b' (in container '')\n |  b\n | .^",
  });
});

/** Estimates that follow from the maximum sizes: 20 names of 5 characters, 8 ports, a text of 10. */
const estimates: readonly (readonly [expression: string, max: number])[] = [
  ['self.replicas > 1', 3],
  ['self.foo__dash__bar == "0123456789abc"', 3],
  ['self.foo__dash__bar.matches("^[a-z]*$")', 2 + 2 * 2],
  ['self.names.all(n, n.startsWith("a"))', 2 + 20 * 5 + 1],
  ['self.names.all(n, self.names.all(m, n != m))', 2 + 20 * (2 + 1 + (2 + 20 * 6 + 1)) + 1],
  ['self.ports.all(p, p.number > 0)', 2 + 8 * (1 + 1 + 1 + 3) + 1],
  ['self.names.isSorted()', 2 + 20 * 2],
];

test('the maximum cost is estimated from the maximum sizes of the types', () => {
  for (const [expression, max] of estimates)
    assert.deepEqual([expression, compile(expression, typed).estimatedCost.max], [expression, max]);
});

test('keys of a map without a maximum length are estimated as short strings, as in upstream', () => {
  const schema = { type: 'object', maxProperties: 8, additionalProperties: { type: 'string', maxLength: 9 } };
  const self = typeOfSchema(schema, 'labels', false) ?? assert.fail('a map has a type');
  for (const [expression, max] of [
    ['self.all(key, key.matches("^[a-z]*$"))', 1 + 8 * (3 + 1 + 2) + 1],
    ['self.all(key, key.split("/")[0].size() < 253)', 1 + 8 * (3 + 1 + 1 + 1 + 1) + 1],
  ] as const)
    assert.deepEqual(
      [expression, compile(expression, { variables: { self } }).estimatedCost.max],
      [expression, max],
    );
});

test('expressions share a budget, and the one that exceeds it is stopped', () => {
  const budget = new Budget(10);
  const compiled = compile('self.names.all(n, n != "x")', typed);
  compiled.evaluate({ self: { names: ['a'] } }, budget);
  assert.equal(budget.remaining, 2);
  const over = /^CelError: operation cancelled: actual cost limit exceeded$/;
  assert.throws(() => compiled.evaluate({ self: { names: ['a'] } }, budget), over);
  assert.ok(budget.remaining < 0, 'the cost of the stopped expression is taken, too');
  const free = compile('true', typed);
  assert.throws(() => free.evaluate({}, budget), /running out of cost budget/);
  assert.equal(free.evaluate({}, new Budget(0)), true);
});

test('an expression is stopped at the limit of a call, although the request has budget left', () => {
  const budget = new Budget(requestLimit);
  const list = Array.from({ length: 1000 }, (_, at) => at);
  const compiled = compile('list.all(a, list.all(b, a + b >= 0))', { variables: { list: types.dyn } });
  assert.throws(() => compiled.evaluate({ list }, budget), /actual cost limit exceeded/);
  assert.ok(requestLimit - budget.remaining - perCallLimit < 10);
});

test('an operator that absorbs failures does not absorb an exceeded limit', () => {
  const compiled = compile('list.all(a, a > 0) || true', { variables: { list: types.dyn } });
  assert.throws(() => compiled.evaluate({ list: [1, 2, 3] }, new Budget(5)), /cost limit exceeded/);
});

test('the getter of a variable is called only if the expression reads it', () => {
  const environment = { variables: { a: types.bool, b: types.bool } };
  const variables = {
    a: true,
    get b(): boolean {
      throw new Error('b was read');
    },
  };
  assert.equal(compile('a || b', environment).evaluate(variables, new Budget(100)), true);
  assert.throws(() => compile('a && b', environment).evaluate(variables, new Budget(100)), /b was read/);
});

test('an evaluation leaves no state for the next one', () => {
  const compiled = compile('[1, 2].map(x, x + a).size() + a', { variables: { a: types.int } });
  assert.equal(compiled.evaluate({ a: 1 }, new Budget(1000)), 3n);
  assert.equal(compiled.evaluate({ a: 2 }, new Budget(1000)), 4n);
  const list = compile('[1] + [2]', { variables: {} });
  for (const _ of [1, 2]) assert.deepEqual(shown(list.evaluate({}, new Budget(100))), ['int:1', 'int:2']);
});

test('an expression composes a request to the authorizer', () => {
  const questions: AuthorizerQuestion[] = [];
  const authorizer = new Authorizer({
    serviceAccount: undefined,
    ask: (question) => {
      questions.push(question);
      return { allowed: question.verb === 'get', reason: 'because', error: undefined };
    },
  });
  const environment = { variables: { authorizer: types.opaque(authorizer.typeName) } };
  const ask = (expression: string) => evaluate(expression, environment, { authorizer });
  const resource =
    'authorizer.group("apps").resource("deployments").subresource("scale").namespace("a").name("b")';
  assert.equal(ask(`${resource}.check("get").allowed()`), true);
  assert.equal(ask('authorizer.serviceAccount("ns", "sa").path("/x").check("put").reason()'), 'because');
  assert.deepEqual(questions, [
    {
      verb: 'get',
      serviceAccount: undefined,
      about: {
        group: 'apps',
        resource: 'deployments',
        subresource: 'scale',
        namespace: 'a',
        name: 'b',
        fieldSelector: '',
        labelSelector: '',
      },
    },
    { verb: 'put', serviceAccount: { namespace: 'ns', name: 'sa' }, about: { path: '/x' } },
  ]);
  assert.throws(() => ask('authorizer.path(" ").check("get").allowed()'), /path must not be empty/);
  assert.throws(() => ask('authorizer.group("").resource("")'), /resource must not be empty/);
  assert.throws(() => ask('authorizer.serviceAccount("ns", "_")'), /Invalid service account name/);
  const check = 'authorizer.path("/x").check("get").allowed()';
  assert.throws(() => ask(`${check} && ${check} && ${check}`), /cost limit exceeded/);
});

const versions: readonly (readonly [expression: string, value: unknown])[] = [
  ['semver("1.2.3").compareTo(semver("1.2.3"))', 'int:0'],
  ['semver("1.2.3-rc.1").isLessThan(semver("1.2.3"))', true],
  ['semver("1.2.3-rc.1").isLessThan(semver("1.2.3-rc.a"))', true],
  ['semver("1.2.3-rc").isLessThan(semver("1.2.3-rc.1"))', true],
  ['semver("1.10.0").isGreaterThan(semver("1.9.9"))', true],
  ['semver("1.2.3").major() + semver("1.2.3").minor() + semver("1.2.3").patch()', 'int:6'],
  ['isSemver("v1.0.0") || isSemver("1.0") || isSemver("1.0.0-01") || isSemver("01.0.0")', false],
  ['isSemver("1.0.0+build.1")', true],
  ['semver("1.0.0+a") == semver("1.0.0+b")', true],
];

test('semantic versions are parsed and compared', () => {
  for (const [expression, value] of versions)
    assert.deepEqual([expression, evaluate(expression, { variables: {} }, {})], [expression, value]);
  assert.throws(() => evaluate('semver("x")', { variables: {} }, {}), /Invalid Semantic Version/);
});
