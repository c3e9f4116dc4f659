/**
 * Random workflows and random orders of events, including restarts. The following holds for each: the same
 * call gives the same answer; outstanding tasks can be read from the stored state
 * (test/fixtures/workflow-run.ts checks this after every event); no task is started twice; every run ends,
 * and then nothing is outstanding.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { deepFreeze } from '../../../src/base/freeze.ts';
import { checkDefinition } from '../../../src/states-language/definition/check-definition.ts';
import type { Definition } from '../../../src/states-language/definition/types.ts';
import { evaluateHere } from '../../../src/states-language/jsonata/language.ts';
import { advance, type RunEvent } from '../../../src/states-language/run/advance.ts';
import { pending } from '../../../src/states-language/run/commands.ts';
import { SeededRandom } from '../../fixtures/seeded-random.ts';
import { WorkflowRun } from '../../fixtures/workflow-run.ts';

/** Makes a workflow that always ends: states only lead to later ones. */
class Maker {
  readonly #random: SeededRandom;
  #names = 0;
  constructor(random: SeededRandom) {
    this.#random = random;
  }

  machine(depth: number): object {
    const count = 1 + this.#random.below(4);
    const names = Array.from({ length: count }, () => `S${this.#names++}`);
    const states = names.map((name, index) => [name, this.#state(names.slice(index + 1), depth)] as const);
    return { StartAt: names[0], States: Object.fromEntries(states) };
  }

  #chance = (parts: number) => this.#random.below(parts) === 0;

  #state(later: readonly string[], depth: number): object {
    const [next] = later;
    const onward = next === undefined ? { End: true } : { Next: next };
    const other = later[this.#random.below(later.length)] ?? next;
    const working = {
      ...(this.#chance(2) && {
        Retry: [
          {
            ErrorEquals: ['A'],
            MaxAttempts: 1 + this.#random.below(2),
            JitterStrategy: this.#chance(2) ? 'FULL' : 'NONE',
          },
        ],
      }),
      ...(other !== undefined &&
        this.#chance(2) && {
          Catch: [
            { ErrorEquals: [this.#chance(2) ? 'B' : 'States.ALL'], Next: other, ResultPath: '$.error' },
          ],
        }),
      ...(this.#chance(3) && { ResultPath: '$.result' }),
      ...(this.#chance(4) && { Assign: { [`v${this.#names++}`]: { 'x.$': '$' } } }),
      ...onward,
    };
    const kind = this.#random.below(depth > 0 ? 7 : 5);
    if (kind === 0) return { Type: 'Pass', Result: { p: this.#names }, ...onward };
    if (kind === 1) return { Type: 'Wait', Seconds: this.#random.below(20), ...onward };
    if (kind === 2 && next !== undefined)
      return { Type: 'Choice', Choices: [{ Variable: '$.p', IsPresent: true, Next: other }], Default: next };
    if (kind <= 4)
      return {
        Type: 'Task',
        Resource: 'function:f',
        ...(this.#chance(3) && { TimeoutSeconds: 5 + this.#random.below(5) }),
        ...(this.#chance(4) && { HeartbeatSeconds: 2 }),
        ...working,
      };
    if (kind === 5)
      return {
        Type: 'Parallel',
        Branches: Array.from({ length: 1 + this.#random.below(3) }, () => this.machine(depth - 1)),
        ...working,
      };
    return {
      Type: 'Map',
      ItemsPath: '$$.Execution.Input.items',
      MaxConcurrency: this.#random.below(3),
      ...(this.#chance(3) && { ToleratedFailureCount: 1 }),
      ItemProcessor: this.machine(depth - 1),
      ...working,
    };
  }
}

/** Returns a possible next event: for a task of this run, for an earlier task, or passing time. */
function eventFor(run: WorkflowRun, random: SeededRandom): RunEvent {
  const tasks = [...run.outstanding.keys(), ...(random.below(5) === 0 ? run.tasks.map(({ id }) => id) : [])];
  const id = tasks[random.below(tasks.length)];
  if (run.more && (id === undefined || random.below(2) === 0)) return { type: 'Continue' };
  const kind = random.below(10);
  if (id === undefined || kind === 0) {
    if (run.due !== undefined && random.below(4) > 0) run.now = Math.max(run.now, run.due);
    return { type: 'Time' };
  }
  if (kind === 1) return { type: 'TaskHeartbeat', id };
  if (kind === 2) return { type: 'TaskFailed', id, error: 'A', cause: 'a' };
  if (kind === 3) return { type: 'TaskFailed', id, error: 'B', cause: 'b' };
  if (kind === 4 && random.below(2) === 0) return { type: 'TaskTimedOut', id };
  return { type: 'TaskSucceeded', id, output: { done: id } };
}

const rounds = 250;

test(`${rounds} random workflows end with nothing outstanding, and repeated calls give the same answers`, async () => {
  const ends = new Map<string, number>();
  let tasks = 0;
  for (let seed = 1; seed <= rounds; seed++) {
    const random = new SeededRandom(seed);
    const definition = new Maker(random).machine(2);
    // Some states are not reached, which is the only fault that is allowed.
    const faults = checkDefinition(definition, 'd').filter(
      ({ message }) => !message.includes('cannot be reached'),
    );
    if (faults.length > 0) assert.fail(`seed ${seed}: ${JSON.stringify(faults)}`);
    if (checkDefinition(definition, 'd').length > 0) continue;
    const run = await WorkflowRun.start(definition, { items: [1, { p: 2 }, 'three'] }, seed);
    for (let count = 0; run.state.status === 'Running'; count++) {
      assert.ok(count < 2000, `seed ${seed} does not end`);
      const event = seed % 10 === 0 && count === 12 ? ({ type: 'Stop' } as const) : eventFor(run, random);
      if (count % 5 === 0) await sameAnswer(run, event, seed + count);
      // A restart: only the stored state is left.
      run.state = JSON.parse(JSON.stringify(run.state));
      await run.send(event);
    }
    tasks += run.tasks.length;
    ends.set(run.state.status, (ends.get(run.state.status) ?? 0) + 1);
    await ended(run, seed);
  }
  // The rounds together must have covered each kind of end.
  assert.ok(tasks > rounds, `${tasks} tasks`);
  for (const status of ['Succeeded', 'Failed', 'Aborted'])
    assert.ok((ends.get(status) ?? 0) > 2, `${status}: ${ends.get(status)}`);
});

/** Asserts that nothing is left to do, and the way in which the run ended. */
async function ended(run: WorkflowRun, seed: number): Promise<void> {
  assert.equal(run.outstanding.size, 0, `seed ${seed}: a task is outstanding after the end`);
  for (const id of [...run.state.stopping]) await run.send({ type: 'TaskStopped', id });
  assert.deepEqual(
    pending(run.state).map(({ type }) => type),
    [run.state.status === 'Succeeded' ? 'done' : 'failed'],
  );
  const root = run.history.filter(({ type }) => type.startsWith('Execution'));
  assert.deepEqual(
    root.map(({ type }) => type),
    ['ExecutionStarted', `Execution${run.state.status}`],
  );
}

/**
 * Asserts that a repeated call, and a call with a copy from the store, give the same and do not change their
 * arguments.
 */
async function sameAnswer(
  { definition, state, now }: WorkflowRun,
  event: RunEvent,
  seed: number,
): Promise<void> {
  const ask = (from: WorkflowRun['state']) =>
    advance(definition as Definition, from, event, {
      now,
      random: new SeededRandom(seed),
      evaluate: evaluateHere,
    });
  const copy = JSON.parse(JSON.stringify(state));
  const [first, second] = [await ask(deepFreeze(state)), await ask(copy)];
  assert.deepEqual(second, first);
  assert.deepEqual(copy, state);
}
