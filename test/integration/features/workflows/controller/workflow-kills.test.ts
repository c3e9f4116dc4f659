/**
 * A master that is killed at every moment at which something is lost with it: after each write of a run, when
 * the answer is lost, and after each call of a function, when the answer is lost too. The next master
 * continues from the stored state.
 */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { CallOutcome, PlacedCalls } from '../../../../../src/features/functions/api/placed-calls.ts';
import { workflowResource } from '../../../../../src/features/workflows/api/workflow.ts';
import { hasEnded, workflowRunResource } from '../../../../../src/features/workflows/api/workflow-run.ts';
import type { Store } from '../../../../../src/storage/store.ts';
import { FakeClock } from '../../../../fixtures/fake-clock.ts';
import { FakeFunctions } from '../../../../fixtures/fake-functions.ts';
import { createMemoryStore } from '../../../../fixtures/memory-store.ts';
import { startCluster } from '../../../controllers/cluster.ts';

const step = (name: string, more: object) => ({ Type: 'Task', Resource: `function:${name}`, ...more });

/** Two branches, the first of which fails, then one more call. */
const definition = {
  StartAt: 'Both',
  States: {
    Both: {
      Type: 'Parallel',
      Next: 'Last',
      Branches: [
        {
          StartAt: 'Retried',
          States: {
            Retried: step('flaky', { Retry: [{ ErrorEquals: ['Busy'], IntervalSeconds: 3 }], End: true }),
          },
        },
        {
          StartAt: 'First',
          States: { First: step('slow', { Next: 'Second' }), Second: step('quick', { End: true }) },
        },
      ],
    },
    Last: step('last', { End: true }),
  },
};

/** Counts the moments; the master is dead after the moment with this number. */
class Killer {
  moments = 0;
  readonly at: number;
  readonly died = Promise.withResolvers<void>();

  constructor(at: number) {
    this.at = at;
  }

  get isDead(): boolean {
    return this.moments > this.at;
  }

  /** The operation of a moment takes effect; its result is lost if the moment was the last. */
  pass<T>(value: T): Promise<T> {
    this.moments++;
    if (!this.isDead) return Promise.resolve(value);
    this.died.resolve();
    return never();
  }

  store(store: Store): Store {
    const write = async (key: string, doing: () => Promise<number>) => {
      if (this.isDead) return never<number>();
      const revision = await doing();
      return key.includes('/workflowruns') ? this.pass(revision) : revision;
    };
    return {
      ...store,
      create: (key, ...rest) => write(key, () => store.create(key, ...rest)),
      update: (key, ...rest) => write(key, () => store.update(key, ...rest)),
      delete: (key, ...rest) => write(key, () => store.delete(key, ...rest)),
      close: async () => undefined,
    };
  }

  calls(calls: PlacedCalls): PlacedCalls {
    return {
      hasRoom: (call) => calls.hasRoom(call),
      place: (call, signal) => (this.isDead ? never() : calls.place(call, signal)),
      send: async (call, signal): Promise<CallOutcome> => {
        if (this.isDead) return never();
        const answer = calls.send(call, signal);
        answer.catch(() => undefined);
        // The instance has started; the arrival of its answer is another moment.
        await this.pass(undefined);
        return this.pass(await answer);
      },
    };
  }
}

const never = <T>() => new Promise<T>(() => undefined);

/**
 * Runs the workflow with a kill at that moment, starts the next master after the given milliseconds, and
 * returns the number of moments.
 */
async function runWithKill(
  at: number,
  { breaks = () => undefined, pauseMs = 0 }: { breaks?: FakeFunctions['breaks']; pauseMs?: number } = {},
): Promise<number> {
  const clock = new FakeClock();
  const store = createMemoryStore();
  const functions = new FakeFunctions(clock);
  functions.handle = ({ function: name, before }) => {
    if (name === 'flaky') return before === 0 ? { error: 'Busy' } : { output: 'flaky' };
    return { output: name, afterMs: name === 'slow' ? 5000 : 0 };
  };
  functions.breaks = breaks;
  const killer = new Killer(at);
  const first = await startCluster({
    clock,
    store: killer.store(store),
    placedCalls: killer.calls(functions.calls()),
  });
  await first.client.resource(workflowResource).create({
    apiVersion: 'minik8s.io/v1',
    kind: 'Workflow',
    metadata: { name: 'w', namespace: 'default' },
    spec: { definition, public: false, serviceAccountName: 'default', runsHistoryLimit: 10 },
  });
  const metadata = { name: 'r', namespace: 'default' };
  void first.client
    .resource(workflowRunResource)
    .create({ apiVersion: 'minik8s.io/v1', kind: 'WorkflowRun', metadata, spec: { workflow: 'w' } })
    .catch(() => undefined);
  const endedIn = async ({ get }: typeof first) => {
    const run = await get(workflowRunResource, 'r');
    return run && hasEnded(run) && run.status?.state === undefined && run;
  };
  const dead = { is: false };
  void killer.died.promise.then(() => {
    dead.is = true;
  });
  await first.eventually('it is killed or has ended', async () => dead.is || (await endedIn(first)));
  void first.stop().catch(() => undefined);
  await clock.advance(pauseMs);
  const calls = functions.calls();
  const second = await startCluster({ clock, store, placedCalls: calls });
  const run = await second.eventually('the run ends', () => endedIn(second));
  const { phase, output, error, cause } = run.status ?? {};
  assert.deepEqual([phase, output, error, cause], ['Succeeded', 'last', undefined, undefined]);
  const ran = functions.ran.map((one) => one.function).toSorted();
  assert.deepEqual(ran, ['flaky', 'flaky', 'last', 'quick', 'slow']);
  assert.equal(calls.held, 0, 'every place is released');
  await second.stop();
  return killer.moments;
}

for (const [when, pauseMs] of [
  ['at once', 0],
  ['once the time of a retry has come', 4000],
] as const)
  it(`a master that is killed runs no task twice, and skips none, if the next one begins ${when}`, {
    timeout: 300_000,
  }, async () => {
    const moments = await runWithKill(Number.POSITIVE_INFINITY);
    assert.ok(moments > 15, `there are ${moments} moments`);
    for (let at = 0; at < moments; at++) {
      try {
        await runWithKill(at, { pauseMs });
      } catch (error) {
        throw new Error(`killed at moment ${at} of ${moments}`, { cause: error });
      }
    }
  });

for (const broken of ['before', 'after'] as const)
  it(`a call whose connection breaks ${broken} the instance has the call is made once`, {
    timeout: 300_000,
  }, async () => {
    const breaks: FakeFunctions['breaks'] = (_, time) => (time <= 2 ? broken : undefined);
    await runWithKill(Number.POSITIVE_INFINITY, { breaks });
  });
