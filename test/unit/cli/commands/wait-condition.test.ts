import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseCondition } from '../../../../src/cli/commands/wait-condition.ts';

const object = (conditions: readonly object[], generation = 2, status: object = {}) => ({
  metadata: { name: 'web', generation },
  status: { ...status, conditions },
});
const isMet = (text: string, ...args: Parameters<typeof object>) =>
  parseCondition(text).isMet(object(...args));

test('a condition is compared with true by default, without regard to case', () => {
  const ready = [{ type: 'Ready', status: 'True' }];
  assert.equal(isMet('condition=ready', ready), true);
  assert.equal(isMet('condition=Ready=false', ready), false);
  assert.equal(isMet('condition=Ready=TRUE', ready), true);
  assert.equal(isMet('condition=Ready=True=x', ready), false);
  assert.equal(isMet('condition=Available', ready), false);
  assert.equal(isMet('condition=Ready', []), false);
});

test('a condition observed for an older generation is not met', () => {
  const ready = [{ type: 'Ready', status: 'True' }];
  assert.equal(isMet('condition=Ready', ready, 2, { observedGeneration: 1 }), false);
  assert.equal(isMet('condition=Ready', ready, 2, { observedGeneration: 2 }), true);
  assert.equal(isMet('condition=Ready', [{ ...ready[0], observedGeneration: 1 }], 2), false);
  assert.equal(isMet('condition=Ready', [{ ...ready[0], observedGeneration: 2 }], 2), true);
});

test('a path without a value is met by any value, with one only by that', () => {
  assert.equal(isMet('jsonpath={.status.conditions}', [{}]), true);
  assert.equal(isMet('jsonpath={.status.phase}', []), false);
  assert.equal(isMet("jsonpath={.status.phase}='Running'", [], 1, { phase: 'Running' }), true);
  assert.equal(isMet(`jsonpath={.status.note}="it's"`, [], 1, { note: "it's" }), true);
  assert.equal(isMet('jsonpath=.status.phase=Running', [], 1, { phase: 'Pending' }), false);
  assert.equal(isMet('jsonpath={.status.replicas}=3', [], 1, { replicas: 3 }), true);
  const both = [{ type: 'A' }, { type: 'B' }];
  assert.throws(() => isMet('jsonpath={.status.conditions[*].type}=A', both), /more than one value/);
});

test('an invalid condition is rejected with the valid forms', () => {
  for (const text of ['', 'ready', 'condition=', 'jsonpath=', 'jsonpath={.a}='])
    assert.throws(() => parseCondition(text), { name: 'UsageError' }, text);
  assert.deepEqual(
    ['delete', 'create', 'condition=x'].map((text) => parseCondition(text).absent),
    ['met', 'not yet', 'error'],
  );
});
