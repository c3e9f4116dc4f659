/** Pauses between attempts to call a task's function, and the failures after which the call is given up. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { newNotFound, newStatusError } from '../../../../../src/apimachinery/status-error.ts';
import { functionResource } from '../../../../../src/features/functions/api/function.ts';
import type {
  CallOutcome,
  PlacedCall,
  PlacedCalls,
  SentCall,
} from '../../../../../src/features/functions/api/placed-calls.ts';
import {
  FunctionTasks,
  type Task,
  tasksOf,
  waitedOf,
} from '../../../../../src/features/workflows/controller/function-tasks.ts';
import type { RunState } from '../../../../../src/states-language/run/state.ts';
import { FakeClock } from '../../../../fixtures/fake-clock.ts';
import { start } from '../../../controllers/objects.ts';

const task = (id: string, namespace?: string): Task => ({
  ...{ type: 'startTask', id, state: 'S', input: { id } },
  resource: { type: 'function', name: 'f', ...(namespace !== undefined && { namespace }) },
});
const busy = newStatusError('ServiceUnavailable', 'no room');
const answered: CallOutcome = {
  ...{ type: 'answered', status: 200, error: undefined, isJson: true, body: Buffer.from('1') },
};

/** Functions that are placed and answered at once, as `place` and `outcome` return. */
function world(calls?: Partial<PlacedCalls> | 'none') {
  const clock = new FakeClock();
  const placed: { readonly at: number; readonly call: PlacedCall }[] = [];
  const sent: { readonly at: number; readonly call: SentCall }[] = [];
  const [woken, told]: [string[], string[]] = [[], []];
  const state = { fault: undefined as Error | undefined, outcome: answered as CallOutcome | 'never' };
  const tasks = new FunctionTasks({
    clock,
    wake: (run) => void woken.push(run),
    report: (run, message) => void told.push(`${run}: ${message}`),
    calls:
      calls === 'none'
        ? undefined
        : {
            hasRoom: () => true,
            place: async (call) => {
              placed.push({ at: clock.monotonic(), call });
              if (state.fault) throw state.fault;
              return { instance: `i${placed.length}`, release: () => undefined };
            },
            send: async (call) => {
              sent.push({ at: clock.monotonic(), call });
              return state.outcome === 'never' ? new Promise<never>(() => undefined) : state.outcome;
            },
            ...calls,
          },
  });
  /** Continues a task after the controller has stored the marks of the run, or `mark`. */
  const ensure = async (id: string, mark = tasks.marksOf('r').find((one) => one.id === id)) => {
    tasks.ensure('r', 'home', task(id), mark);
    await clock.settle();
  };
  return { clock, tasks, placed, sent, woken, told, state, ensure };
}

describe('a call that finds no place', () => {
  it('is tried again after 100 ms, each time after twice as long, and after ten seconds at most', async () => {
    const { clock, placed, state, ensure } = world();
    state.fault = busy;
    await ensure('a');
    await clock.advance(50_000);
    const pauses = placed.slice(1).map(({ at }, i) => at - (placed[i]?.at ?? 0));
    assert.deepEqual(pauses, [100, 200, 400, 800, 1600, 3200, 6400, 10_000, 10_000, 10_000]);
  });
  it('fails when it is older than five minutes', async () => {
    const { clock, tasks, state, ensure, woken, told, placed } = world();
    state.fault = busy;
    clock.spend(1_000_000);
    await ensure('a');
    // Attempts happen after 12.7 s and every ten seconds after that.
    await clock.advance(302_000);
    assert.equal(tasks.eventOf('r', 'a'), undefined);
    await clock.advance(1000);
    const event = { type: 'TaskFailed', id: 'a', error: 'Function.Unavailable', cause: 'no room' };
    assert.deepEqual([tasks.eventOf('r', 'a'), woken], [event, ['r']]);
    assert.equal(placed.at(-1)?.at, 1_302_700);
    assert.deepEqual(told, ['r: task a waits for function f: no room']);
    assert.equal(clock.pending, 0);
  });
  it('is still tried when it is exactly five minutes old', async () => {
    const { clock, tasks, state, ensure } = world();
    state.fault = busy;
    await ensure('a');
    clock.spend(300_000);
    await clock.advance(0);
    assert.equal(tasks.eventOf('r', 'a'), undefined);
    await clock.advance(10_000);
    assert.equal(tasks.eventOf('r', 'a')?.type, 'TaskFailed');
  });
  it("fails with the gateway's message if the function does not exist", async () => {
    const { tasks, state, ensure } = world();
    state.fault = newNotFound(functionResource, 'f');
    await ensure('a');
    const cause = 'functions.minik8s.io "f" not found';
    assert.deepEqual(tasks.eventOf('r', 'a'), {
      type: 'TaskFailed',
      id: 'a',
      error: 'Function.NotFound',
      cause,
    });
  });
  it('waits if this server calls no functions, and fails in the end', async () => {
    const { clock, tasks, ensure, told } = world('none');
    await tasks.placeAtOnce('r', 'home', task('a'));
    assert.deepEqual([clock.pending, told], [0, []]);
    await ensure('a');
    assert.deepEqual(told, ['r: task a waits for function f: this server cannot call functions']);
    await clock.advance(400_000);
    assert.match(JSON.stringify(tasks.eventOf('r', 'a')), /Function.Unavailable/);
  });
});

describe('a call', () => {
  it('is made to a function in the namespace of the task, with an id of run and task', async () => {
    const { clock, placed, tasks } = world();
    tasks.ensure('r', 'home', task('a'), undefined);
    tasks.ensure('r', 'home', task('b', 'other'), undefined);
    await clock.settle();
    assert.deepEqual(
      placed.map(({ call }) => call),
      [
        { namespace: 'home', function: 'f', id: 'r.a' },
        { namespace: 'other', function: 'f', id: 'r.b' },
      ],
    );
  });
  it('is marked with its instance and the time of its place', async () => {
    const { clock, tasks, ensure } = world();
    await clock.advance(1500);
    await ensure('a');
    const time = new Date(start + 1500).toISOString();
    assert.deepEqual(tasks.marksOf('r'), [{ id: 'a', instance: 'i1', time }]);
    assert.deepEqual(tasks.marksOf('another'), []);
  });
  it('with an unknown outcome is sent again to the same instance after growing pauses, until the instance answers', async () => {
    const { clock, sent, tasks, state, ensure, placed } = world();
    state.outcome = { type: 'unclear', why: 'cut' };
    await ensure('a');
    await ensure('a');
    await clock.advance(1000);
    assert.deepEqual(
      sent.map(({ at, call }) => [at, call.instance, call.ageMs, call.place !== undefined]),
      [
        [0, 'i1', 0, true],
        [100, 'i1', 100, false],
        [300, 'i1', 300, false],
        [700, 'i1', 700, false],
      ],
    );
    assert.deepEqual(tasks.marksOf('r'), [], 'its mark is stored already');
    state.outcome = answered;
    await clock.advance(10_000);
    assert.deepEqual([tasks.eventOf('r', 'a')?.type, placed.length, sent.length], ['TaskSucceeded', 1, 5]);
  });
  it('that was certainly not made is placed and marked again, and its old mark sends nothing', async () => {
    const { clock, sent, tasks, state, ensure, placed } = world();
    state.outcome = { type: 'notMade', why: 'gone' };
    await ensure('a');
    const [old] = tasks.marksOf('r');
    await ensure('a');
    await clock.advance(50);
    assert.deepEqual([tasks.marksOf('r'), placed.length], [[], 1]);
    await ensure('a', old);
    await clock.advance(50);
    assert.deepEqual([tasks.marksOf('r')[0]?.instance, placed.length], ['i2', 2]);
    await ensure('a', old);
    assert.equal(sent.length, 1);
    state.outcome = answered;
    await ensure('a');
    assert.deepEqual([sent[1]?.call.instance, sent[1]?.call.ageMs], ['i2', 0]);
  });
  it('with a mark of the current time has the age 0', async () => {
    const { clock, sent, ensure } = world();
    await ensure('a', { id: 'a', instance: 'i9', time: new Date(clock.now()).toISOString() });
    assert.equal(sent[0]?.call.ageMs, 0);
  });
  it('is sent once, even if the controller reconciles the run several times', async () => {
    const { sent, tasks, state, ensure } = world();
    state.outcome = 'never';
    for (let i = 0; i < 4; i++) await ensure('a', tasks.marksOf('r')[0]);
    assert.equal(sent.length, 1);
    assert.deepEqual(tasks.marksOf('r'), []);
  });
  it('that is no longer needed is aborted, and releases its place once', async () => {
    const signals: AbortSignal[] = [];
    let released = 0;
    const { clock, tasks, ensure } = world({
      place: async (_, signal) => {
        signals.push(signal);
        return { instance: 'i', release: () => void released++ };
      },
    });
    await ensure('a');
    tasks.settle('r', 'home', task('a'), { type: 'TaskFailed', id: 'a', error: 'E', cause: '' });
    tasks.forgetRun('r');
    await clock.settle();
    const { name, message } = (signals[0] ?? assert.fail()).reason as DOMException;
    assert.deepEqual([name, message, released], ['AbortError', 'the task is over', 1]);
  });
  it('with an outcome is not started again', async () => {
    const { sent, placed, tasks, ensure } = world();
    await ensure('a');
    await ensure('a');
    assert.equal(tasks.eventOf('r', 'a')?.type, 'TaskSucceeded');
    await ensure('a');
    await tasks.placeAtOnce('r', 'home', task('a'));
    assert.deepEqual([sent.length, placed.length], [1, 1]);
  });
  it('is placed only after it is stored if the free places are unknown', async () => {
    const { tasks, placed } = world({
      hasRoom: () => {
        throw busy;
      },
    });
    await tasks.placeAtOnce('r', 'home', task('a'));
    assert.deepEqual([placed, tasks.marksOf('r')], [[], []]);
  });
});

describe('the outcome of a task', () => {
  const failed = { type: 'TaskFailed', id: 'a', error: 'E', cause: 'why' } as const;
  it('is kept if it is not from a call, causes a reconciliation of its run, and ends the call with its id', async () => {
    const { clock, tasks, woken, state, ensure } = world();
    state.fault = busy;
    await ensure('a');
    tasks.settle('r', 'home', task('a'), failed);
    assert.deepEqual([tasks.eventOf('r', 'a'), woken, clock.pending], [failed, ['r'], 0]);
    state.fault = undefined;
    await clock.advance(20_000);
    assert.deepEqual([tasks.eventOf('r', 'a'), tasks.marksOf('r')], [failed, []]);
  });
  it('is kept only for awaited tasks of its run', () => {
    const { tasks } = world();
    for (const run of ['r', 's'])
      for (const id of ['a', 'b']) tasks.settle(run, 'home', task(id), { ...failed, id });
    tasks.keepOnly('r', new Set(['b', 'c']));
    const known = (run: string) => ['a', 'b'].filter((id) => tasks.eventOf(run, id) !== undefined);
    assert.deepEqual([known('r'), known('s')], [['b'], ['a', 'b']]);
    tasks.forget('r', 'unknown');
    tasks.forgetRun('s');
    assert.deepEqual([known('r'), known('s')], [['b'], []]);
    tasks.stop();
    assert.deepEqual(known('r'), []);
  });
  it('is awaited only if the state contains the task', () => {
    const branch = { state: 'A', input: {}, entered: 0, visit: 4, attempt: 1 };
    const state = {
      status: 'Running',
      stopping: ['9-0'],
      root: { ...branch, wait: { for: 'task', resource: 'function:f' } },
    };
    assert.deepEqual([...waitedOf(state as unknown as RunState)], ['4-1']);
    assert.deepEqual(tasksOf([{ type: 'cancelTask', id: 'x' }, task('a')]), [task('a')]);
  });
});
