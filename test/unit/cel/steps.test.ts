import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { compile } from '../../../src/cel/compile.ts';
import { CelError } from '../../../src/cel/error.ts';
import { paused } from '../../../src/cel/evaluation/rounds.ts';
import { Budget, requestLimit } from '../../../src/cel/evaluation/run.ts';
import { dyn } from '../../../src/cel/types/type.ts';

const environment = { variables: { self: dyn, other: dyn } };
const numbers = Array.from({ length: 700 }, (_, index) => index);
const self = {
  numbers,
  texts: numbers.map((number) => `text-${number}`),
  fields: Object.fromEntries(numbers.map((number) => [`key${number}`, number])),
};

/** Returns the outcome of an evaluation and its cost. */
function inOne(expression: string) {
  const budget = new Budget(requestLimit);
  return { ...outcome(() => compile(expression, environment).evaluate({ self }, budget)), budget };
}

function inSteps(expression: string) {
  const budget = new Budget(requestLimit);
  const steps = compile(expression, environment).evaluateInSteps({ self }, budget);
  let pauses = 0;
  const result = outcome(() => {
    for (;;) {
      const step = steps.next();
      if (step.done) return step.value;
      pauses++;
    }
  });
  return { ...result, budget, pauses };
}

function outcome(evaluate: () => unknown) {
  try {
    return { value: String(evaluate()) };
  } catch (error) {
    if (!(error instanceof CelError)) throw error;
    return { message: error.message };
  }
}

const long: readonly string[] = [
  'self.numbers.all(a, self.numbers.exists(b, a == b))',
  'self.numbers.map(a, self.numbers.filter(b, b > a).size()).filter(n, n % 2 == 0).size()',
  'self.numbers.all(a, self.numbers.all(b, a + b >= 0) && self.numbers.exists(c, c == a))',
  'self.fields.all(k, self.numbers.exists(n, n == self.fields[k]))',
  'self.fields.all(k, v, self.numbers.exists(n, n == v))',
  'self.numbers.exists_one(a, self.numbers.filter(b, b < a).size() == 699)',
  'self.numbers.map(a, a < 350, self.numbers.map(b, b * a)).size()',
  'self.texts.all(t, self.texts.exists(u, u.endsWith("9x") || t == u))',
  'self.numbers.all(a, self.numbers.exists(b, a == b)) && self.numbers.all(a, self.texts.exists(b, b == "text-699"))',
  // A fault in a late round, and one that another operand decides.
  'self.numbers.map(a, self.numbers.map(b, 1 / (698 - a))).size()',
  'self.numbers.exists(a, self.numbers.exists(b, 1 / (350 - a) > 5 && b == 699))',
  // More than the limit.
  'self.numbers.all(a, self.numbers.all(b, self.numbers.all(c, a + b + c >= 0)))',
];

describe('an evaluation in steps', () => {
  for (const expression of long)
    test(`has the same result and cost as an evaluation without pauses: ${expression}`, () => {
      const { pauses, budget, ...result } = inSteps(expression);
      const { budget: spent, ...whole } = inOne(expression);
      assert.deepEqual(result, whole);
      assert.equal(budget.remaining, spent.remaining);
      assert.ok(pauses > 2, `${pauses} pauses`);
    });

  test('takes one step if it is short', () => {
    assert.equal(inSteps('self.numbers.all(a, a >= 0)').pauses, 0);
  });

  test('pauses for other work while it evaluates a variable with a long loop', () => {
    let asked = 0;
    const variables = {
      get self() {
        if (++asked < 4) throw paused;
        return [1, 2];
      },
    };
    const steps = compile('[1, 2].all(a, self.exists(b, a == b))', environment).evaluateInSteps(
      variables,
      new Budget(requestLimit),
    );
    for (let pause = 0; pause < 3; pause++) assert.equal(steps.next().done, false);
    assert.deepEqual(steps.next(), { done: true, value: true });
  });
});
