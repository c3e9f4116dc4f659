/** Function calls of tasks: fair shares of the places, and the reported age of a call. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { CallOutcome, Place, SentCall } from '../../../../../src/features/functions/api/placed-calls.ts';
import { FunctionTasks, type Task } from '../../../../../src/features/workflows/controller/function-tasks.ts';
import { FakeClock } from '../../../../fixtures/fake-clock.ts';

const task = (id: string): Task => ({
  type: 'startTask',
  id,
  state: 'A',
  resource: { type: 'function', name: 'f', namespace: undefined },
  input: null,
});

/** A clock that a user can set back. */
class WallClock extends FakeClock {
  off = 0;

  override now(): number {
    return super.now() + this.off;
  }
}

function world(outcome: (call: SentCall) => CallOutcome | undefined = () => undefined) {
  const clock = new WallClock();
  const sent: SentCall[] = [];
  const never = new Promise<never>(() => undefined);
  const place: Place = { instance: 'i', release: () => undefined };
  const tasks = new FunctionTasks({
    clock,
    wake: () => undefined,
    report: () => undefined,
    calls: {
      hasRoom: () => true,
      place: async () => place,
      send: async (call) => {
        sent.push(call);
        return outcome(call) ?? never;
      },
    },
  });
  return { clock, tasks, sent };
}

describe('calls of runs', () => {
  it('of one namespace leave room for other namespaces, and continue in the order of their arrival', async () => {
    const { clock, tasks } = world();
    const begun = async (run: string, namespace: string) => {
      for (let i = 0; i < 1000; i++) tasks.ensure(run, namespace, task(`t${i}`), undefined);
      await clock.settle();
      return tasks.marksOf(run).length;
    };
    assert.deepEqual(
      [await begun('a', 'one'), await begun('b', 'two'), await begun('c', 'three')],
      [250, 125, 15],
    );
    tasks.forgetRun('a');
    await clock.settle();
    assert.deepEqual(
      [tasks.marksOf('b').length, tasks.marksOf('c').length].map((count) => count > 100),
      [true, true],
    );
    const firstOf = (run: string) => tasks.marksOf(run).map(({ id }) => Number(id.slice(1)));
    assert.deepEqual(
      firstOf('c'),
      [...firstOf('c')].sort((a, b) => a - b),
    );
    tasks.forgetRun('b');
    await clock.settle();
    assert.equal(tasks.marksOf('c').length, 250);
  });

  it('keep their age even if the clock is set in the meantime', async () => {
    let asked = 0;
    const { clock, tasks, sent } = world(() => (asked++ === 0 ? { type: 'unclear', why: 'cut' } : undefined));
    tasks.ensure('a', 'one', task('t'), undefined);
    await clock.settle();
    const [mark] = tasks.marksOf('a');
    tasks.ensure('a', 'one', task('t'), mark);
    await clock.settle();
    clock.off = 3_600_000;
    await clock.advance(200);
    assert.deepEqual(
      sent.map(({ ageMs }) => ageMs),
      [0, 100],
    );
  });

  it('may be of any age if a fast clock has recorded them before a restart', async () => {
    const { clock, tasks, sent } = world();
    const at = (ms: number) => ({ id: 't', instance: 'i', time: new Date(clock.now() + ms).toISOString() });
    tasks.ensure('a', 'one', task('t'), at(-5000));
    tasks.ensure('b', 'one', task('t'), at(3_600_000));
    await clock.settle();
    const [usual = 0, odd = 0] = sent.map(({ ageMs }) => ageMs);
    assert.equal(usual, 5000);
    // No instance has been running that long, so that none can rule out an earlier call.
    assert.ok(odd > 365 * 24 * 3_600_000, String(odd));
  });
});
