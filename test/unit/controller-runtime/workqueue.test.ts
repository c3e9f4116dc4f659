import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Registry } from '../../../src/base/metrics/registry.ts';
import { QueueMetrics } from '../../../src/controller-runtime/queue-metrics.ts';
import { WorkQueue } from '../../../src/controller-runtime/workqueue.ts';
import { FakeClock } from '../../fixtures/fake-clock.ts';
import { SeededRandom } from '../../fixtures/seeded-random.ts';

test('a key that is added several times is queued once, and keys keep the order of their addition', async () => {
  const queue = new WorkQueue<string>(new FakeClock());
  for (const key of ['a', 'b', 'a', 'c', 'b']) queue.add(key);
  assert.equal(queue.length, 3);
  assert.deepEqual([await queue.get(), await queue.get(), await queue.get()], ['a', 'b', 'c']);
});

test('the most urgent keys come first, and equally urgent ones in the order of their addition', async () => {
  const urgency: Readonly<Record<string, number>> = { a: 1, b: 5, c: 1, d: -3, e: 5, f: 2 };
  const queue = new WorkQueue<string>(new FakeClock(), {}, (key) => urgency[key] ?? 0);
  const taken: (string | undefined)[] = [];
  const waits = queue.get();
  queue.addAll(['a', 'b', 'c', 'd', 'e', 'f', 'b']);
  assert.equal(queue.length, 5);
  taken.push(await waits);
  while (queue.length > 0) taken.push(await queue.get());
  assert.deepEqual(taken, ['b', 'e', 'f', 'a', 'c', 'd']);
  queue.add('d');
  queue.done('d');
  queue.add('a');
  queue.done('a');
  assert.deepEqual([await queue.get(), await queue.get()], ['a', 'd']);
});

test('a key that is added while it is processed is returned again only after that', async () => {
  const queue = new WorkQueue<string>(new FakeClock());
  queue.add('a');
  assert.equal(await queue.get(), 'a');
  queue.add('a');
  queue.add('a');
  assert.equal(queue.length, 0);
  queue.done('a');
  assert.equal(queue.length, 1);
  assert.equal(await queue.get(), 'a');
  queue.done('a');
  assert.equal(queue.length, 0);
});

test('the shorter of two delays applies', async () => {
  const clock = new FakeClock();
  const queue = new WorkQueue<string>(clock);
  queue.addAfter('a', 1_000);
  queue.addAfter('a', 3_000);
  queue.addAfter('b', 3_000);
  queue.addAfter('b', 500);
  await clock.advance(500);
  assert.equal(await queue.get(), 'b');
  await clock.advance(500);
  assert.equal(await queue.get(), 'a');
  assert.equal(clock.pending, 0);
});

test('failures of a key double its delay up to the limit; forget starts again', () => {
  const queue = new WorkQueue<string>(new FakeClock(), { maxMs: 40 });
  const delays = () => Array.from({ length: 5 }, () => queue.addRateLimited('a'));
  assert.deepEqual(delays(), [5, 10, 20, 40, 40]);
  assert.equal(queue.addRateLimited('b'), 5, 'each key fails for itself');
  queue.forget('a');
  assert.deepEqual(delays(), [5, 10, 20, 40, 40]);
  const patient = new WorkQueue<string>(new FakeClock());
  const longest = Array.from({ length: 2_000 }, () => patient.addRateLimited('a')).at(-1);
  assert.equal(longest, 1_000_000);
});

test('shutting down releases all workers and leaves no timer', async () => {
  const clock = new FakeClock();
  const queue = new WorkQueue<string>(clock);
  queue.addAfter('a', 1_000);
  const getting = [queue.get(), queue.get()];
  queue.shutDown();
  queue.add('b');
  queue.addAfter('c', 10);
  assert.deepEqual(await Promise.all(getting), [undefined, undefined]);
  assert.equal(await queue.get(), undefined);
  assert.equal(clock.pending, 0);
});

test('for any order of additions and failures, a key never runs twice at the same time and no change is missed', async () => {
  for (let seed = 1; seed <= 60; seed++) {
    const random = new SeededRandom(seed);
    const clock = new FakeClock();
    const queue = new WorkQueue<string>(clock, { maxMs: 100 });
    /** Wanted value of each key, and the value that was reconciled last. */
    const wanted = new Map<string, number>();
    const made = new Map<string, number>();
    const running = new Set<string>();

    const work = async () => {
      for (let key = await queue.get(); key !== undefined; key = await queue.get()) {
        assert.ok(!running.has(key), `${key} runs twice at once, seed ${seed}`);
        running.add(key);
        const seen = wanted.get(key) ?? 0;
        const pause = random.below(20);
        if (pause) await new Promise<void>((resolve) => clock.after(pause, resolve));
        if (random.below(4) === 0) {
          queue.addRateLimited(key);
        } else {
          made.set(key, seen);
          queue.forget(key);
          if (random.below(3) === 0) queue.addAfter(key, random.below(50));
        }
        running.delete(key);
        queue.done(key);
      }
    };
    const workers = Array.from({ length: 1 + random.below(4) }, work);
    for (let step = 0; step < 150; step++) {
      const key = `key-${random.below(6)}`;
      wanted.set(key, step);
      if (random.below(5) === 0) queue.addAfter(key, random.below(30));
      else queue.add(key);
      if (random.below(3) === 0) await clock.advance(random.below(10));
    }
    for (let i = 0; i < 40; i++) await clock.advance(50);
    assert.deepEqual(new Map([...made].sort()), new Map([...wanted].sort()), `seed ${seed}`);
    queue.shutDown();
    for (let i = 0; i < 10; i++) await clock.advance(50);
    await Promise.all(workers);
  }
});

test('the metrics of a queue count adds, waiting times, work, retries and long work', async () => {
  const clock = new FakeClock();
  const queue = new WorkQueue<string>(clock);
  const page = new Registry();
  const metrics = new QueueMetrics(page);
  queue.observedBy(metrics.observe('q', () => queue.state));
  queue.addAll(['a', 'b', 'a']);
  await clock.advance(2000);
  assert.equal(await queue.get(), 'a');
  await clock.advance(3000);
  assert.equal(await queue.get(), 'b');
  await clock.advance(1000);
  queue.add('c');
  const told = () =>
    Object.fromEntries(
      [...page.pieces()]
        .join('')
        .split('\n')
        .filter((line) => line.startsWith('workqueue') && !line.includes('_bucket'))
        .map((line) => line.split('{name="q"} ')),
    );
  const during = told();
  assert.equal(during.workqueue_depth, '1');
  assert.equal(during.workqueue_adds_total, '3');
  assert.equal(during.workqueue_unfinished_work_seconds, '5');
  assert.equal(during.workqueue_longest_running_processor_seconds, '4');
  assert.equal(during.workqueue_queue_duration_seconds_sum, '7');
  queue.done('a');
  queue.done('b');
  queue.addRateLimited('a');
  const after = told();
  assert.equal(after.workqueue_work_duration_seconds_sum, '5');
  assert.equal(after.workqueue_work_duration_seconds_count, '2');
  assert.equal(after.workqueue_retries_total, '1');
  assert.equal(after.workqueue_unfinished_work_seconds, '0');
  const next = new WorkQueue<string>(clock);
  metrics.observe('q', () => next.state);
  assert.equal(told().workqueue_depth, '0', 'that of the next term');
});
