import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LoopMeter } from '../../../../src/base/event-loop/loop-meter.ts';
import { inTurns } from '../../../../src/base/event-loop/pieces.ts';
import { FakeClock } from '../../../fixtures/fake-clock.ts';
import { RecordingLogger } from '../../../fixtures/recording-logger.ts';

const work = { kind: 'test', describe: () => ({}) };

test('a piece that had to wait for its turn is measured separately from the work before it', async () => {
  const clock = new FakeClock();
  const log = new RecordingLogger();
  const meter = new LoopMeter({ clock, log });
  const nextPiece = inTurns(clock, meter);
  const piece = async () => {
    await nextPiece();
    meter.mark(work);
    clock.spend(60);
  };
  clock.spend(10);
  const waiting = piece();
  // The piece asks for the next turn before the meter does.
  await Promise.resolve();
  meter.mark(work);
  clock.spend(60);
  await waiting;
  await clock.settle();
  assert.deepEqual(log.lines, []);
});

test('a hundred pieces of work are done in several turns, in their order', async () => {
  const clock = new FakeClock();
  const nextPiece = inTurns(clock);
  let turn = 0;
  const turns: number[] = [];
  const done: number[] = [];
  const hear = () => {
    turn++;
    if (done.length < 100) setImmediate(hear);
  };
  setImmediate(hear);
  const numbers = Array.from({ length: 100 }, (_, n) => n);
  await Promise.all(
    numbers.map(async (n) => {
      await nextPiece();
      clock.spend(4);
      turns[turn] = (turns[turn] ?? 0) + 1;
      done.push(n);
    }),
  );
  assert.deepEqual(done, numbers);
  // Ten milliseconds have passed after three pieces; a few more have been queued by then.
  assert.ok(Math.max(...turns.filter(Boolean)) <= 8, `${turns}`);
});
