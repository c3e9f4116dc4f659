/**
 * JSONata on its thread: it answers as on the main thread, and no expression blocks the main thread or ends
 * the process.
 */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { systemClock } from '../../../src/base/clock.ts';
import { evaluateHere } from '../../../src/states-language/jsonata/language.ts';
import { createExpressionThread } from '../../../src/states-language/jsonata/thread.ts';

const thread = createExpressionThread(systemClock);
after(() => thread.stop());

const question = (expression: string) => ({
  expression,
  bindings: { states: { input: { a: [1, 2] } } },
  now: 1000,
  seed: 1,
});

test('the thread gives the same answers as this one', async () => {
  for (const expression of ['$sum($states.input.a)', '$uuid()', '$now()', '{"x": [1..3]}', 'null'])
    assert.deepEqual(
      await thread.evaluate(question(expression)),
      await evaluateHere(question(expression)),
      expression,
    );
});

test('many concurrent requests each get their own answer', async () => {
  const asked = Array.from({ length: 50 }, (_, index) => thread.evaluate(question(`${index} + 1`)));
  assert.deepEqual(
    await Promise.all(asked),
    Array.from({ length: 50 }, (_, index) => index + 1),
  );
});

test('an expression without a value is refused, and the thread continues', async () => {
  await assert.rejects(thread.evaluate(question('$no')), /the expression has no value/);
  assert.equal(await thread.evaluate(question('1')), 1);
});

const hostile: [name: string, expression: string, why: RegExp][] = [
  [
    'loops forever',
    '($f := function($n) { $f($n + 1) }; $f(0))',
    /Evaluation timeout after 2000 milliseconds|it took longer than 6 s/,
  ],
  [
    'matches a regular expression forever',
    `$match("${'a'.repeat(40)}b", /^(a+)+$/)`,
    /it took longer than 6 s/,
  ],
  [
    'takes all memory',
    '[1..400].{"a": $split($pad("x", 100000), "")}',
    /the thread ended: .*memory|Evaluation timeout/,
  ],
  ['has a value that is too large', '$pad("x", 2000000)', /the value is too large/],
];
for (const [name, expression, why] of hostile)
  test(`an expression that ${name} fails, and the thread evaluates other expressions afterwards`, async () => {
    let turns = 0;
    const beat = setInterval(() => turns++, 10);
    try {
      await assert.rejects(thread.evaluate(question(expression)), why);
    } finally {
      clearInterval(beat);
    }
    assert.ok(turns > 0 || name === 'has a value that is too large', 'this thread was held');
    assert.equal(await thread.evaluate(question('40 + 2')), 42);
  });

test('namespaces take turns', async () => {
  const answered: string[] = [];
  const ask = (expression: string, asker: string) =>
    thread.evaluate(question(expression), asker).then((value) => answered.push(`${asker}${value}`));
  await Promise.all([
    ...['1', '2', '3', '4'].map((expression) => ask(expression, 'a')),
    ...['1', '2'].map((expression) => ask(expression, 'b')),
    ask('1', 'c'),
  ]);
  assert.deepEqual(answered, ['a1', 'a2', 'b1', 'c1', 'a3', 'b2', 'a4']);
});

test('a stopped thread rejects waiting requests, and a later request starts a new thread', async () => {
  const own = createExpressionThread(systemClock);
  const waiting = [own.evaluate(question('1')), own.evaluate(question('2'))];
  const settled = Promise.allSettled(waiting);
  await own.stop();
  assert.ok((await settled).every(({ status }) => status === 'rejected'));
  assert.equal(await own.evaluate(question('3')), 3);
  await own.stop();
});
