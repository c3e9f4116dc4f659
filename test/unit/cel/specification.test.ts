/** The test data of the CEL specification. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { specificationTests } from '../../fixtures/cel/specification.ts';
import { outcomeOf } from '../../fixtures/cel/specification-outcome.ts';
import differences from './data/specification-differences.json' with { type: 'json' };

const reasons = new Map(
  Object.entries(differences).flatMap(([reason, names]) => names.map((name) => [name, reason] as const)),
);
const tests = specificationTests();

test('every test of the specification passes except those listed with a reason', () => {
  assert.ok(tests.length > 2300, `${tests.length} tests`);
  const failed = tests.flatMap((each) => {
    const outcome = outcomeOf(each);
    return outcome === 'passed' || reasons.has(each.name)
      ? []
      : [`${each.name}: ${each.original.expr}: ${outcome}`];
  });
  assert.deepEqual(failed, []);
});

test('the list contains no test that passes or that the specification does not have', () => {
  const known = new Map(tests.map((each) => [each.name, each]));
  const needless = [...reasons.keys()].filter((name) => {
    const each = known.get(name);
    return each === undefined || outcomeOf(each) === 'passed';
  });
  assert.deepEqual(needless, []);
});
