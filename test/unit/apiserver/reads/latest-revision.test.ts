import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LatestRevision } from '../../../../src/apiserver/reads/latest-revision.ts';
import { FakeClock } from '../../../fixtures/fake-clock.ts';

/** A store that answers with its revision when the test requests it. */
function asked(known?: () => number | undefined) {
  const clock = new FakeClock();
  const questions: PromiseWithResolvers<number>[] = [];
  const store = {
    currentRevision() {
      const question = Promise.withResolvers<number>();
      questions.push(question);
      return question.promise;
    },
    ...(known && { knownRevision: known }),
  };
  return { latest: new LatestRevision(store, clock), clock, questions };
}

const { signal } = new AbortController();
const outcomes = (reads: readonly Promise<number>[]) => Promise.allSettled(reads);

test('a failure without a waiting caller is ignored', async () => {
  const { latest, clock, questions } = asked();
  const leaving = new AbortController();
  const read = latest.ask(leaving.signal);
  const left = assert.rejects(read, /left/);
  await clock.settle();
  leaving.abort(new Error('left'));
  await left;
  questions[0]?.reject(new Error('down'));
  // An unhandled rejection would end the process.
  await clock.settle();
});

test('a store with a known revision is not queried, and is queried when the revision is unknown again', async () => {
  let known: number | undefined = 5;
  const { latest, clock, questions } = asked(() => known);
  assert.equal(await latest.ask(signal), 5);
  known = 6;
  assert.equal(await latest.ask(signal), 6);
  await clock.settle();
  assert.equal(questions.length, 0);
  await assert.rejects(latest.ask(AbortSignal.abort(new Error('left'))), /left/);
  known = undefined;
  const read = latest.ask(signal);
  await clock.settle();
  questions[0]?.resolve(7);
  assert.equal(await read, 7);
});

test('readers of one answer continue in several turns, in their order', async () => {
  const { latest, clock, questions } = asked();
  let turn = 0;
  const turns: number[] = [];
  const order: number[] = [];
  const reads = Array.from({ length: 100 }, async (_, n) => {
    await latest.ask(signal);
    order.push(n);
    turns[turn] = (turns[turn] ?? 0) + 1;
    clock.spend(4);
  });
  const hear = () => {
    turn++;
    if (order.length < 100) setImmediate(hear);
  };
  await clock.settle();
  questions[0]?.resolve(7);
  setImmediate(hear);
  await Promise.all(reads);
  assert.deepEqual(
    order,
    Array.from({ length: 100 }, (_, n) => n),
  );
  // Ten milliseconds pass after three readers; some more have been started by then.
  assert.ok(Math.max(...turns.filter(Boolean)) <= 8, `${turns}`);
});

test('a reader that aborts while others continue gets its reason', async () => {
  const { latest, clock, questions } = asked();
  const leaving = new AbortController();
  const first = latest.ask(signal).then(() => {
    clock.spend(20);
    leaving.abort(new Error('left'));
  });
  const second = assert.rejects(
    first.then(() => latest.ask(leaving.signal)),
    /left/,
  );
  await clock.settle();
  questions[0]?.resolve(7);
  await second;
});

test('all readers that arrive before the request is sent share its answer', async () => {
  const { latest, clock, questions } = asked();
  const reads = [latest.ask(signal), latest.ask(signal), Promise.resolve().then(() => latest.ask(signal))];
  await clock.settle();
  assert.equal(questions.length, 1);
  questions[0]?.resolve(7);
  assert.deepEqual(await Promise.all(reads), [7, 7, 7]);
});

test('a caller that arrives after the query waits for the next one, which is sent after the first answer', async () => {
  const { latest, clock, questions } = asked();
  const first = latest.ask(signal);
  await clock.settle();
  const late = [latest.ask(signal), latest.ask(signal)];
  await clock.settle();
  assert.equal(questions.length, 1);
  questions[0]?.resolve(7);
  assert.equal(await first, 7);
  await clock.settle();
  assert.equal(questions.length, 2);
  questions[1]?.resolve(9);
  assert.deepEqual(await Promise.all(late), [9, 9]);
  assert.equal(clock.pending, 0);
});

test('a failed query fails for all its callers, and the next caller queries again', async () => {
  const { latest, clock, questions } = asked();
  const failing = [latest.ask(signal), latest.ask(signal)];
  await clock.settle();
  const next = latest.ask(signal);
  const gone = new Error('etcd did not answer');
  questions[0]?.reject(gone);
  for (const outcome of await outcomes(failing))
    assert.deepEqual(outcome, { status: 'rejected', reason: gone });
  await clock.settle();
  questions[1]?.resolve(3);
  assert.equal(await next, 3);
  const later = latest.ask(signal);
  await clock.settle();
  questions[2]?.resolve(4);
  assert.equal(await later, 4);
});

test('an aborted reader rejects at once; a request without readers is not sent', async () => {
  const { latest, clock, questions } = asked();
  const [first, second] = [new AbortController(), new AbortController()];
  const leaving = latest.ask(first.signal);
  const staying = latest.ask(signal);
  await clock.settle();
  first.abort(new Error('the client went away'));
  await assert.rejects(leaving, /the client went away/);
  const alone = latest.ask(second.signal);
  second.abort(new Error('so did this one'));
  await assert.rejects(alone, /so did this one/);
  questions[0]?.resolve(5);
  assert.equal(await staying, 5);
  await clock.settle();
  assert.equal(questions.length, 1);
  await assert.rejects(latest.ask(second.signal), /so did this one/);
  const after = latest.ask(signal);
  await clock.settle();
  assert.equal(questions.length, 2);
  questions[1]?.resolve(6);
  assert.equal(await after, 6);
});

test('a query without an answer delays the next one for a second', async () => {
  const { latest, clock, questions } = asked();
  const stuck = latest.ask(signal);
  await clock.settle();
  const next = latest.ask(signal);
  await clock.advance(999);
  assert.equal(questions.length, 1);
  await clock.advance(1);
  assert.equal(questions.length, 2);
  questions[1]?.resolve(8);
  assert.equal(await next, 8);
  questions[0]?.resolve(2);
  assert.equal(await stuck, 2);
});
