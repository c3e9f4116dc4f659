/** Log lines about work that blocks the event loop in a turn after a wait. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Turns } from '../../../src/apiserver/turns.ts';
import { LoopMeter } from '../../../src/base/event-loop/loop-meter.ts';
import { FakeClock } from '../../fixtures/fake-clock.ts';
import { RecordingLogger } from '../../fixtures/recording-logger.ts';

test('work that blocks the event loop in a later turn is logged by its own name', async () => {
  const clock = new FakeClock();
  const log = new RecordingLogger();
  const meter = new LoopMeter({ clock, log });
  const turns = new Turns(clock, meter);
  const inTurn = async (name: string, ms: number) => {
    meter.mark({ kind: 'request', describe: () => ({ name }) });
    await turns.next();
    clock.spend(ms);
  };
  const all = Promise.all([inTurn('short', 5), inTurn('long', 150), inTurn('last', 5)]);
  await clock.settle();
  await all;
  assert.deepEqual(
    log.lines.map(({ fields }) => fields),
    [{ ms: 150, kind: 'request', workMs: 150, name: 'long' }],
  );
});
