/** Loss of the contact with a majority of the masters. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LeaderContact } from '../../../src/masters/leader-contact.ts';
import { FakeClock } from '../../fixtures/fake-clock.ts';

test('the contact is lost once there has been no leader for longer than an election', async () => {
  const clock = new FakeClock();
  const stop = new AbortController();
  const state: { answer: boolean | Error } = { answer: true };
  const contact = new LeaderContact(
    {
      async hasLeader() {
        if (state.answer instanceof Error) throw state.answer;
        return state.answer;
      },
    },
    clock,
  );
  const running = contact.run(stop.signal);
  const pass = async (ms: number) => {
    for (let left = ms; left > 0; left -= 500) await clock.advance(500);
    return contact.problem;
  };
  assert.equal(await pass(5_000), undefined);
  state.answer = false;
  assert.equal(await pass(2_500), undefined, 'an election may take as long');
  state.answer = true;
  assert.equal(await pass(1_000), undefined);
  state.answer = false;
  assert.match(
    (await pass(5_000)) ?? '',
    /^this master has no contact with a majority of the masters, and serves again/,
  );
  state.answer = new Error('etcd restarts');
  assert.equal(await pass(1_000), undefined, 'an etcd that does not answer has not lost the majority');
  state.answer = false;
  assert.ok(await pass(5_000));
  state.answer = true;
  assert.equal(await pass(1_000), undefined, 'it is back');
  stop.abort();
  await running;
});
