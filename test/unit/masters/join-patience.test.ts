/** A master that waits for its turn to join. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { JoinDeniedError, JoinPendingError } from '../../../src/masters/join-client.ts';
import { untilAdmitted } from '../../../src/masters/join-patience.ts';
import { FakeClock } from '../../fixtures/fake-clock.ts';
import { RecordingLogger } from '../../fixtures/recording-logger.ts';

function world(answers: (asks: number) => unknown) {
  const [clock, log] = [new FakeClock(), new RecordingLogger()];
  let asks = 0;
  const ask = async () => {
    const answer = answers(++asks);
    if (answer instanceof Error) throw answer;
    return answer;
  };
  const { signal } = new AbortController();
  return { clock, log, asks: () => asks, admitted: untilAdmitted(ask, { clock, log }, signal) };
}

test('a master that joins asks again while another one is joining, and logs each reason once', async () => {
  const busy = new JoinPendingError('another master is joining');
  const { clock, log, asks, admitted } = world((n) => (n < 5 ? busy : 'member'));
  await clock.advance(60_000);
  assert.equal(await admitted, 'member');
  assert.equal(asks(), 5);
  assert.deepEqual(
    log.lines.map(({ fields }) => fields),
    [{ reason: 'another master is joining' }],
  );
});

test('a master that is refused does not ask again', async () => {
  const { asks, admitted } = world(() => new JoinDeniedError('the token is wrong'));
  await assert.rejects(admitted, /the token is wrong/);
  assert.equal(asks(), 1);
});

test('a master that joins gives up within ten minutes, with the last reason', async () => {
  const { clock, asks, admitted } = world(() => new JoinPendingError('m2 is joining: remove m2'));
  const rejected = assert.rejects(admitted, /m2 is joining: remove m2/);
  await clock.advance(600_000);
  await rejected;
  assert.ok(asks() > 100);
});
