/** Expressions that would take all memory, the whole stack, or minutes. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compile } from '../../../src/cel/compile.ts';
import { CelError } from '../../../src/cel/error.ts';
import { Budget, requestLimit } from '../../../src/cel/evaluation/run.ts';
import { bytes, dyn, int, listOf, string, timestamp } from '../../../src/cel/types/type.ts';

const range = (length: number) => Array.from({ length }, (_, at) => at);
const variables = {
  big: 'a'.repeat(1_000_000),
  wide: '𝒳'.repeat(400_000),
  list: range(100_000),
  rows: range(100).map(() => range(1000).map((a) => ({ a, b: 'x' }))),
  map: Object.fromEntries(range(100_000).map((at) => [`k${at}`, at])),
  texts: range(2000).map((at) => 's'.repeat(100) + at),
};
const environment = { variables: Object.fromEntries(Object.keys(variables).map((name) => [name, dyn])) };

/**
 * Maximum processor time, which would be minutes without the limits. It does not depend on the load of the
 * machine.
 */
const maxMilliseconds = 2000;

/**
 * Returns the value or the message of the error. Fails if it takes too long, or if the error is not CEL's.
 */
function answerTo(expression: string): unknown {
  const start = process.cpuUsage();
  try {
    return compile(expression, environment).evaluate(variables, new Budget(requestLimit));
  } catch (error) {
    if (error instanceof CelError) return error.message;
    throw error;
  } finally {
    const { user, system } = process.cpuUsage(start);
    const milliseconds = (user + system) / 1000;
    assert.ok(milliseconds < maxMilliseconds, `${expression.slice(0, 80)}: ${milliseconds} ms`);
  }
}

const exceeded = 'operation cancelled: actual cost limit exceeded';

test('a catastrophic regular expression is matched in linear time', () => {
  assert.equal(answerTo(`"${'a'.repeat(40)}!".matches("(a+)+$")`), false);
  assert.equal(answerTo('"a".matches("(a+)+$")'), true);
  assert.equal(answerTo(`"${'a'.repeat(5000)}!".find("(a|aa)+$")`), '');
});

test('a regular expression that expands to a huge program is rejected', () => {
  assert.match(String(answerTo('"a".matches("((a{100}){100}){100}")')), /invalid matches argument/);
  assert.match(String(answerTo(`"a".find("${'(a|b)'.repeat(1000)}")`)), /error parsing regexp/);
});

const exhausting = [
  'list.all(a, list.all(b, list.all(c, a + b + c >= 0)))',
  'list.all(x, big.matches(""))',
  'list.all(x, size(big) > 0)',
  'list.all(x, size(wide) > 0)',
  'list.all(x, big.contains(""))',
  'list.all(x, rows == rows)',
  'list.all(x, rows[0] in rows)',
  'list.all(x, list.indexOf(-1) == -1)',
  'list.all(x, wide.charAt(399999) != "")',
  'list.all(x, wide.substring(399998) != "")',
  'list.all(x, big.split("").size() > 0)',
  'list.map(x, big + big).size() > 0',
  'list.map(x, texts.join(big)).size() > 0',
  'list.all(x, "%s".format([list]).size() > 0)',
  'big.replace("a", big).size() > 0',
  'sets.equivalent(list, list)',
  'list.all(x, map.exists(k, false) || true)',
  `optional.of(list)${'.optMap(a, a + a)'.repeat(30)}.hasValue()`,
  `optional.of(1)${'.optMap(a, a)'.repeat(100)}.hasValue()`,
];

for (const expression of exhausting) {
  test(`the evaluation of ${expression.slice(0, 70)} is stopped`, () => {
    assert.equal(answerTo(expression), exceeded);
  });
}

const recursion = /^compilation failed: ERROR: <input>:-1:0: expression recursion limit exceeded: \d+$/;
const deep: Readonly<Record<string, string>> = {
  '1,000 parentheses': `${'('.repeat(1000)}1${')'.repeat(1000)}`,
  '50,000 parentheses': '('.repeat(50_000),
  '1,000 brackets': `${'['.repeat(1000)}${']'.repeat(1000)}`,
  '10,000 selections': `list${'.a'.repeat(10_000)}`,
  '20,000 indexes': `list${'[0]'.repeat(20_000)}`,
  '20,000 sums': range(20_000).join('+').slice(0, 99_999),
  '300 macros': `${'[1].all(a, '.repeat(300)}true${')'.repeat(300)}`,
};

for (const [name, expression] of Object.entries(deep)) {
  test(`an expression with ${name} is rejected`, () => {
    assert.match(String(answerTo(expression)), recursion);
  });
}

test('long chains without deep nesting are accepted', () => {
  assert.equal(answerTo(`${'!'.repeat(50_000)}true`), true);
  assert.equal(
    answerTo(
      range(5000)
        .map((at) => `list == ${at}`)
        .join(' || '),
    ),
    false,
  );
  assert.equal(answerTo(`[${range(10_000).join(', ')}].size()`), 10_000n);
});

test('a value that is nested deeper than the stack is an error of the expression', () => {
  const nested = () => {
    let value: unknown = 1;
    for (let level = 0; level < 100_000; level++) value = [value];
    return value;
  };
  const compiled = compile('a == b', { variables: { a: dyn, b: dyn } });
  assert.throws(
    () => compiled.evaluate({ a: nested(), b: nested() }, new Budget(requestLimit)),
    /^CelError: operation cancelled: /,
  );
});

test('values that contradict their declared types are errors of the expression', () => {
  const types = { bytes, timestamp, int, list: listOf(string) };
  const declared = { variables: types };
  const wrong = { bytes: '***', timestamp: 'never', int: 'x', list: { a: 1 } };
  for (const expression of [
    'size(bytes)',
    'timestamp < timestamp',
    'int + 1',
    'list.all(x, x.size() > 0)',
    'list[0]',
  ]) {
    const compiled = compile(expression, declared);
    assert.throws(() => compiled.evaluate(wrong, new Budget(requestLimit)), CelError, expression);
  }
});

test('an expression that is too long is rejected before it is parsed', () => {
  const size = 'size: 100001, limit 100000';
  assert.equal(
    answerTo('𝒳'.repeat(100_001)),
    `compilation failed: ERROR: <input>:-1:0: expression code point size exceeds limit: ${size}`,
  );
});

test('an unfinished literal, and 10,000 names that do not exist, are faults of the expression', () => {
  assert.match(String(answerTo('"'.repeat(99_999))), /^compilation failed: /);
  assert.match(
    String(
      answerTo(
        range(10_000)
          .map((at) => `x${at}`)
          .join('||'),
      ),
    ),
    /9900 more errors/,
  );
});
