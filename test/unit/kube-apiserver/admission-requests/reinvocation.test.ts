import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Reinvocation } from '../../../../src/kube-apiserver/admission-requests/plan/reinvocation.ts';

test('a webhook is called again if a later one has changed the object', () => {
  const round = new Reinvocation();
  round.begin({});
  round.called('first', 'IfNeeded', true);
  round.called('never', 'Never', true);
  round.called('last', 'IfNeeded', false);
  assert.equal(round.end({ a: 1 }), true);
  round.begin({ a: 1 });
  assert.deepEqual(
    ['first', 'never', 'last', 'new'].filter((id) => round.calls(id)),
    ['first'],
  );
  round.called('first', 'IfNeeded', true);
  assert.equal(round.end({ a: 2 }), false);
});

test('webhooks with the policy IfNeeded are called again if another plugin has changed the object', () => {
  const round = new Reinvocation();
  round.begin({});
  round.called('first', 'IfNeeded', true);
  assert.equal(round.end({ a: 1 }), true);
  round.begin({ a: 1, b: 1 });
  assert.equal(round.calls('first'), true);
});

test('no webhook is called again if none has changed the object', () => {
  const round = new Reinvocation();
  round.begin({});
  round.called('first', 'IfNeeded', false);
  assert.equal(round.end({}), false);
});
