import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Expectations } from '../../../src/controller-runtime/expectations.ts';
import { FakeClock } from '../../fixtures/fake-clock.ts';

test('creations are counted', () => {
  const expectations = new Expectations(new FakeClock());
  assert.equal(expectations.satisfied('a'), true);
  expectations.expect('a', { creations: 2 });
  expectations.creationObserved('a');
  expectations.creationObserved('b');
  assert.equal(expectations.satisfied('a'), false);
  expectations.creationObserved('a');
  assert.equal(expectations.satisfied('a'), true);
});

test('deletions are told apart by uid, however often each is seen', () => {
  const expectations = new Expectations(new FakeClock());
  expectations.expect('a', { deletions: ['1', '2'] });
  for (const uid of ['1', '1', 'other']) expectations.deletionObserved('a', uid);
  assert.equal(expectations.satisfied('a'), false);
  expectations.deletionObserved('a', '2');
  assert.equal(expectations.satisfied('a'), true);
});

test('creations that are seen do not stand in for deletions', () => {
  const expectations = new Expectations(new FakeClock());
  expectations.expect('a', { creations: 1, deletions: ['1'] });
  for (let i = 0; i < 3; i++) expectations.creationObserved('a');
  assert.equal(expectations.satisfied('a'), false);
});

test('what never comes is waited for five minutes', async () => {
  const clock = new FakeClock();
  const expectations = new Expectations(clock);
  expectations.expect('a', { creations: 1 });
  await clock.advance(299_000);
  assert.equal(expectations.satisfied('a'), false);
  assert.equal(expectations.lapsesIn('a'), 1_000);
  await clock.advance(1_000);
  assert.equal(expectations.satisfied('a'), true);
  expectations.forget('a');
  assert.equal(expectations.lapsesIn('a'), undefined);
});
