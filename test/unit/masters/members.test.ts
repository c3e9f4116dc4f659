import assert from 'node:assert/strict';
import { test } from 'node:test';
import { onceHealthy } from '../../../src/masters/members.ts';
import { FakeClock } from '../../fixtures/fake-clock.ts';

const unhealthy = new Error('etcdserver: unhealthy cluster');

/** Begins a change that etcd answers with these errors in turn, the last one again and again. */
function changeWith(...answers: readonly (Error | undefined)[]) {
  const clock = new FakeClock();
  let tries = 0;
  const done = onceHealthy(clock, async () => {
    const answer = answers[Math.min(tries++, answers.length - 1)];
    if (answer) throw answer;
    return 'changed';
  });
  done.catch(() => undefined);
  return { clock, done, tries: () => tries };
}

test('a change of the members is repeated while etcd reports an unhealthy cluster', async () => {
  const { clock, done, tries } = changeWith(unhealthy, unhealthy, undefined);
  await clock.advance(2_000);
  assert.equal(await done, 'changed');
  assert.equal(tries(), 3);
});

test('a change of the members fails with the error of etcd when the cluster stays unhealthy', async () => {
  const { clock, done, tries } = changeWith(unhealthy);
  await clock.advance(60_000);
  await assert.rejects(done, unhealthy);
  const after = tries();
  await clock.advance(60_000);
  assert.equal(tries(), after);
});

test('a change of the members that etcd rejects for another reason is not repeated', async () => {
  const { done, tries } = changeWith(new Error('etcdserver: member not found'));
  await assert.rejects(done, /member not found/);
  assert.equal(tries(), 1);
});
