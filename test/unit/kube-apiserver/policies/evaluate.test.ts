import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compilePolicy } from '../../../../src/api/admissionregistration/v1/expressions/compile-policy.ts';
import type { ValidatingAdmissionPolicy } from '../../../../src/api/admissionregistration/v1/validating-admission-policy.ts';
import { Budget } from '../../../../src/cel/evaluation/run.ts';
import { evaluatePolicy } from '../../../../src/kube-apiserver/policies/evaluate.ts';

const limit = 10_000_000;

function evaluate(spec: object, object: object = {}, budget = new Budget(limit)) {
  const { program, faults } = compilePolicy({ spec } as unknown as ValidatingAdmissionPolicy);
  assert.deepEqual(faults, []);
  const { failurePolicy = 'Fail' } = spec as { readonly failurePolicy?: 'Fail' | 'Ignore' };
  const names = { object, oldObject: null, request: { name: 'one' }, namespaceObject: null };
  const budgets = { matchBudget: new Budget(limit), annotationBudget: new Budget(limit), budget };
  return evaluatePolicy({ program, failurePolicy, names, ...budgets });
}

const messages = (spec: object, object?: object) =>
  evaluate(spec, object).denials.map(({ message }) => message);
const validations = (...all: object[]) => ({ validations: all });

test('an expression that is true denies nothing', () => {
  assert.deepEqual(evaluate(validations({ expression: 'object.a == 1' }), { a: 1 }), {
    denials: [],
    annotations: [],
  });
});

test('each expression that is false denies with its own message and reason', () => {
  const found = evaluate(
    validations(
      { expression: 'false', message: ' plain ', reason: 'Forbidden' },
      { expression: 'true' },
      { expression: ' false ' },
    ),
  );
  assert.deepEqual(found.denials, [
    { message: 'plain', reason: 'Forbidden', isFinding: true, validation: 0 },
    { message: 'failed expression: false', reason: 'Invalid', isFinding: true, validation: 2 },
  ]);
});

const messageRows: readonly [string, string, string][] = [
  ['is made', "'the size of ' + request.name", 'the size of one'],
  ['that fails is replaced', 'string(object.missing)', 'plain'],
  ['that is empty is replaced', "'  '", 'plain'],
  ['in two lines is replaced', "'a\\nb'", 'plain'],
  ['that is too long is replaced', `'${'x'.repeat(5200)}'`, 'plain'],
];
for (const [title, messageExpression, expected] of messageRows)
  test(`a message that ${title}`.replace('that is made', 'is made'), () => {
    const validation = { expression: 'false', message: 'plain', messageExpression };
    assert.deepEqual(messages(validations(validation)), [expected]);
  });

test('an expression that fails denies, unless the policy ignores failures', () => {
  const failing = validations({ expression: 'object.missing == 1' });
  assert.deepEqual(messages(failing), [
    "expression 'object.missing == 1' resulted in error: no such key: missing",
  ]);
  assert.deepEqual(messages({ ...failing, failurePolicy: 'Ignore' }), []);
});

test('if a match condition is false, the policy does not apply, even if another condition fails', () => {
  const spec = (...expressions: string[]) => ({
    ...validations({ expression: 'false', message: 'denied' }),
    matchConditions: expressions.map((expression, index) => ({ name: `c${index}`, expression })),
  });
  assert.deepEqual(messages(spec('true')), ['denied']);
  assert.deepEqual(messages(spec('true', 'false')), []);
  assert.deepEqual(messages(spec('object.missing == 1', 'false')), []);
  const failed = "expression 'object.missing == 1' resulted in error: no such key: missing";
  assert.deepEqual(messages(spec('object.missing == 1', 'true')), [failed]);
  assert.deepEqual(messages(spec('object.missing == 1', 'object.missing == 1')), [`[${failed}, ${failed}]`]);
  assert.deepEqual(messages({ ...spec('object.missing == 1'), failurePolicy: 'Ignore' }), []);
});

test('a variable is evaluated only when it is read, and once', () => {
  const variables = [
    { name: 'fails', expression: 'object.missing' },
    { name: 'sum', expression: '[1, 2, 3].map(x, x * 2).map(x, x + 1).size()' },
  ];
  const costOf = (expression: string) => {
    const budget = new Budget(limit);
    assert.deepEqual(evaluate({ variables, ...validations({ expression }) }, {}, budget).denials, []);
    return limit - budget.remaining;
  };
  const once = costOf('variables.sum == 3');
  const twice = costOf('variables.sum == 3 && variables.sum == 3');
  assert.ok(once > 10, `one read costs ${once}`);
  assert.ok(twice < once + 10, `two reads cost ${twice}, one costs ${once}`);
  assert.deepEqual(messages({ variables, ...validations({ expression: 'variables.fails == 1' }) }), [
    `expression 'variables.fails == 1' resulted in error: composited variable "fails" fails to evaluate: no such key: missing`,
  ]);
});

test('all validations share one budget', () => {
  const expression = '[1, 2, 3, 4].all(x, x > 0)';
  const found = evaluate(validations({ expression }, { expression }), {}, new Budget(30));
  assert.deepEqual(
    found.denials.map(({ message, validation }) => [message, validation]),
    [['operation cancelled: actual cost limit exceeded', 1]],
  );
});

test('annotations are non-empty texts; an annotation that fails denies the request for any actions of the binding', () => {
  const annotation = (valueExpression: string) => ({
    auditAnnotations: [{ key: 'who', valueExpression }],
  });
  assert.deepEqual(evaluate(annotation("' ' + request.name")).annotations, [{ key: 'who', value: 'one' }]);
  assert.deepEqual(evaluate(annotation("' '")).annotations, []);
  assert.deepEqual(evaluate(annotation('null')).annotations, []);
  const failing = annotation('string(object.missing)');
  assert.deepEqual(
    evaluate(failing).denials.map(({ isFinding }) => isFinding),
    [false],
  );
  assert.deepEqual(evaluate({ ...failing, failurePolicy: 'Ignore' }).denials, []);
});
