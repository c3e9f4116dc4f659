/**
 * Function calls of tasks: the times at which each is placed, sent, retried and given up, and the places that
 * it holds.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { newNotFound, newStatusError } from '../../../../../src/apimachinery/status-error.ts';
import { functionResource } from '../../../../../src/features/functions/api/function.ts';
import type { CallOutcome, Place, SentCall } from '../../../../../src/features/functions/api/placed-calls.ts';
import { FunctionTasks, type Task } from '../../../../../src/features/workflows/controller/function-tasks.ts';
import { FakeClock } from '../../../../fixtures/fake-clock.ts';

const task = (id: string): Task => ({
  ...{ type: 'startTask', id, state: 'S', resource: { type: 'function', name: 'f' }, input: { id } },
});
const answered: CallOutcome = {
  ...{ type: 'answered', status: 200, error: undefined, isJson: true, body: Buffer.from('1') },
};

/** A gateway that the test controls. */
class World {
  readonly clock = new FakeClock();
  /** Number of places that were given and not released. */
  held = 0;
  readonly waiting: ((place: Error | undefined) => void)[] = [];
  readonly sent: { readonly call: SentCall; readonly answer: (outcome: CallOutcome | Error) => void }[] = [];
  readonly woken: string[] = [];
  readonly told: string[] = [];
  hasRoom = false;
  readonly tasks = new FunctionTasks({
    clock: this.clock,
    wake: (run) => void this.woken.push(run),
    report: (_, message) => void this.told.push(message),
    calls: {
      hasRoom: () => this.hasRoom,
      place: () => {
        const { promise, resolve, reject } = Promise.withResolvers<Place>();
        this.waiting.push((error) => (error ? reject(error) : resolve(this.#place())));
        return promise;
      },
      send: (call, signal) => {
        const { promise, resolve, reject } = Promise.withResolvers<CallOutcome>();
        const answer = (outcome: CallOutcome | Error) => {
          call.place?.release();
          if (outcome instanceof Error) reject(outcome);
          else resolve(outcome);
        };
        signal.addEventListener('abort', () => answer(new Error('aborted')), { once: true });
        this.sent.push({ call, answer });
        return promise;
      },
    },
  });
  #instances = 0;

  #place(): Place {
    this.held++;
    let isHeld = true;
    return {
      instance: `i${++this.#instances}`,
      release: () => {
        if (isHeld) this.held--;
        isHeld = false;
      },
    };
  }

  /** Gives a place, or an error, to the first call that waits for one. */
  async give(error?: Error): Promise<void> {
    await this.clock.settle();
    (this.waiting.shift() ?? assert.fail('no call waits for a place'))(error);
    await this.clock.settle();
  }

  async answer(outcome: CallOutcome | Error, index = this.sent.length - 1): Promise<void> {
    this.sent[index]?.answer(outcome);
    await this.clock.settle();
  }

  ensure(id: string, marks = this.tasks.marksOf('r')): void {
    this.tasks.ensure(
      'r',
      'default',
      task(id),
      marks.find((mark) => mark.id === id),
    );
  }
}

describe('a call', () => {
  it('is sent to its stored place, and not before the place is stored', async () => {
    const world = new World();
    world.ensure('a');
    await world.give();
    const [mark] = world.tasks.marksOf('r');
    assert.deepEqual([mark?.instance, world.woken, world.sent.length], ['i1', ['r'], 0]);
    world.ensure('a', []);
    world.ensure('a', [{ id: 'a', instance: 'i0', time: mark?.time ?? '' }]);
    world.ensure('a', [{ id: 'a', instance: 'i1', time: '2020-01-01T00:00:00Z' }]);
    assert.equal(world.sent.length, 0);
    world.ensure('a');
    world.ensure('a');
    assert.deepEqual(
      world.sent.map(({ call }) => [call.instance, call.id, call.body]),
      [['i1', 'r.a', '{"id":"a"}']],
    );
    await world.answer(answered);
    assert.deepEqual(world.tasks.eventOf('r', 'a'), { type: 'TaskSucceeded', id: 'a', output: 1 });
    assert.equal(world.held, 0);
  });
  it('that was stored before a restart is sent to the same instance, without a place', async () => {
    const world = new World();
    await world.clock.advance(5000);
    world.ensure('a', [{ id: 'a', instance: 'i9', time: new Date(world.clock.now() - 3000).toISOString() }]);
    const { call } = world.sent[0] ?? assert.fail();
    assert.deepEqual(
      [call.instance, call.place, call.ageMs, world.waiting.length],
      ['i9', undefined, 3000, 0],
    );
  });
  it('is placed again if it was certainly not made, and queried if it may have been made', async () => {
    const world = new World();
    world.ensure('a');
    await world.give();
    world.ensure('a');
    await world.answer({ type: 'unclear', why: 'cut off' });
    await world.clock.advance(60_000);
    assert.deepEqual(
      world.sent.map(({ call }) => call.instance),
      ['i1', 'i1'],
    );
    await world.answer(new Error('cut off'));
    await world.clock.advance(60_000);
    await world.answer({ type: 'notMade', why: 'it is stopping' });
    await world.clock.advance(60_000);
    assert.deepEqual([world.sent.length, world.waiting.length], [3, 1]);
    await world.give();
    world.ensure('a');
    assert.equal(world.sent[3]?.call.instance, 'i2');
    await world.answer({ type: 'lost', why: 'gone' });
    assert.match(JSON.stringify(world.tasks.eventOf('r', 'a')), /Function.Lost/);
  });
  it('that is no longer needed releases its place, in any state', async () => {
    for (const steps of [0, 1, 2, 3]) {
      const world = new World();
      world.ensure('a');
      await world.clock.settle();
      if (steps === 1) {
        world.tasks.forget('r', 'a');
        await world.give();
      }
      if (steps > 1) await world.give();
      if (steps > 2) world.ensure('a');
      world.woken.length = 0;
      world.tasks.forgetRun('r');
      await world.clock.settle();
      assert.deepEqual(
        [world.held, world.tasks.eventOf('r', 'a'), world.woken],
        [0, undefined, []],
        `${steps}`,
      );
      if (steps > 2) await world.answer(answered);
      assert.deepEqual([world.tasks.eventOf('r', 'a'), world.woken, world.clock.pending], [undefined, [], 0]);
    }
  });
  it('waits five minutes for a function that cannot be called, reports it once, and then fails', async () => {
    const world = new World();
    world.ensure('a');
    let seconds = 0;
    for (; world.tasks.eventOf('r', 'a') === undefined; seconds += 10) {
      assert.ok(seconds < 400, 'it fails');
      while (world.waiting.length > 0) await world.give(newStatusError('ServiceUnavailable', 'no room'));
      await world.clock.advance(10_000);
    }
    assert.ok(seconds >= 300, `${seconds}`);
    assert.match(JSON.stringify(world.tasks.eventOf('r', 'a')), /Function.Unavailable.*no room/);
    assert.deepEqual(world.told, ['task a waits for function f: no room']);
  });
  it('of a function that does not exist fails at once', async () => {
    const world = new World();
    world.ensure('a');
    await world.give(newNotFound(functionResource, 'f'));
    assert.match(JSON.stringify(world.tasks.eventOf('r', 'a')), /Function.NotFound/);
  });
});

describe('the limit of concurrent calls', () => {
  const begin = (world: World, count: number) => {
    for (let i = 0; i < count; i++) world.ensure(`t${i}`);
  };
  it('applies to a namespace, and waiting calls start when other calls end with any outcome', async () => {
    const world = new World();
    begin(world, 253);
    await world.clock.settle();
    assert.equal(world.waiting.length, 250);
    await world.give(newNotFound(functionResource, 'f'));
    assert.equal(world.waiting.length, 250);
    world.tasks.forget('r', 't1');
    await world.clock.settle();
    assert.equal(world.waiting.length, 251, 'one of them no longer waits');
    world.tasks.forgetRun('r');
    await world.clock.settle();
    const before = world.waiting.length;
    for (let i = 0; i < 300; i++) world.ensure(`n${i}`);
    await world.clock.settle();
    assert.equal(world.waiting.length - before, 250, 'all their turns are free again');
  });
  it('includes calls in progress if one of them has ended and is then dropped', async () => {
    const world = new World();
    world.ensure('a');
    await world.give(newNotFound(functionResource, 'f'));
    world.ensure('b');
    world.tasks.forget('r', 'a');
    begin(world, 300);
    await world.clock.settle();
    assert.equal(world.waiting.length, 250, 'b is one of them');
  });
  it('does not include calls that were abandoned before their turn', async () => {
    const world = new World();
    begin(world, 252);
    await world.clock.settle();
    world.tasks.forget('r', 't250');
    await world.give(newNotFound(functionResource, 'f'));
    assert.equal(world.waiting.length, 250);
    world.waiting.at(-1)?.(undefined);
    await world.clock.settle();
    assert.deepEqual(
      world.tasks.marksOf('r').map(({ id }) => id),
      ['t251'],
    );
  });
  it('does not place calls before they are stored if others wait, or there is no room', async () => {
    const world = new World();
    await world.tasks.placeAtOnce('r', 'default', task('a'));
    assert.equal(world.waiting.length, 0);
    world.hasRoom = true;
    const placed = world.tasks.placeAtOnce('r', 'default', task('a'));
    await world.give();
    await placed;
    assert.deepEqual(
      world.tasks.marksOf('r').map(({ id }) => id),
      ['a'],
    );
    await world.tasks.placeAtOnce('r', 'default', task('a'));
    assert.equal(world.waiting.length, 0, 'it has a place already');
    world.tasks.stop();
    assert.equal(world.held, 0);
  });
});
