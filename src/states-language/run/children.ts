/** Branches of a Parallel and iterations of a Map: starts as many as the limit allows, and advances them. */
import { type MapState, machinesOf, type Parallel } from '../definition/types.ts';
import { type Failure, stateError } from '../failure.ts';
import type { Json } from '../json.ts';
import { bounded, inputOf } from './data.ts';
import { Query } from './query.ts';
import { type Branch, type ChildrenWait, wayOf } from './state.ts';
import type { Frame, Turn } from './turn.ts';

/** End of a branch; undefined while it waits. */
export type Outcome = { readonly output: Json } | { readonly failure: Failure } | undefined;

export type Settle = (turn: Turn, frame: Frame) => Promise<Outcome>;

/** Returns a branch that is about to enter a state. */
export const startBranch = (state: string, input: Json, now: number, item?: Branch['item']): Branch => ({
  state,
  input,
  entered: now,
  visit: 0,
  attempt: 0,
  ...(item !== undefined && { item }),
  wait: { for: 'turn' },
});

/** Returns the outputs of the children, or the failure that ends them all; undefined while they wait. */
export async function runChildren(
  turn: Turn,
  frame: Frame,
  state: Parallel | MapState,
  wait: ChildrenWait,
  settle: Settle,
): Promise<{ readonly result: readonly Json[] } | { readonly failure: Failure } | undefined> {
  for (;;) {
    await startChildren(turn, frame, state, wait);
    const failure = await settleChildren(turn, frame, state, wait, settle);
    if (failure !== undefined) return { failure };
    const running = Object.keys(wait.running).length;
    if (wait.started === wait.total && running === 0) return { result: resultOf(wait) };
    // An ended child may have made room for others.
    if (turn.spent || wait.started === wait.total || running >= wait.limit) return undefined;
  }
}

/** Returns the outputs in order, which integer keys always have; a tolerated failed iteration has none. */
const resultOf = ({ outputs }: ChildrenWait): readonly Json[] => Object.values(outputs);

const childPrefix = ({ branch, prefix }: Frame, index: string | number) =>
  `${wayOf(prefix, branch)}.${index}.`;

/** Returns the machine of a child: the only one of a Map, or the branch of a Parallel. */
function machineOf(state: Parallel | MapState, index: number) {
  const machine = machinesOf(state)[state.Type === 'Map' ? 0 : index];
  if (machine === undefined) throw stateError('States.Runtime', 'the definition has changed');
  return machine;
}

async function startChildren(
  turn: Turn,
  frame: Frame,
  state: Parallel | MapState,
  wait: ChildrenWait,
): Promise<void> {
  const { items } = wait;
  const first = wait.started;
  while (wait.started < wait.total && Object.keys(wait.running).length < wait.limit && !turn.spent) {
    const index = wait.started;
    const { StartAt } = machineOf(state, index);
    const value = items?.[index - first];
    if (state.Type === 'Map' && value !== undefined) {
      const given = await itemInput(turn, frame, state, { index, value });
      wait.running[index] = startBranch(StartAt, given, turn.ports.now, { index, value });
      turn.record('MapIterationStarted', { way: childPrefix(frame, index).slice(0, -1), detail: { index } });
    } else {
      const given = wait.input === undefined ? frame.branch.input : wait.input;
      wait.running[index] = startBranch(StartAt, given, turn.ports.now);
    }
    wait.started++;
  }
  // The items are removed once for all started children, because there may be a hundred thousand more. A
  // failure in between ends the state with all its items.
  if (items !== undefined) wait.items = items.slice(wait.started - first);
}

/** Returns the input of an iteration: the item, or the result of the ItemSelector. */
async function itemInput(
  turn: Turn,
  frame: Frame,
  state: MapState,
  item: { readonly index: number; readonly value: Json },
): Promise<Json> {
  const query = new Query(turn, frame, state, item);
  const raw = frame.branch.input;
  const selector = state.ItemSelector ?? state.Parameters;
  if (selector === undefined) return item.value;
  if (query.language === 'JSONata')
    return bounded(turn, 'an item', await query.express(selector, { input: raw }));
  return bounded(turn, 'an item', query.fill(selector, inputOf(query, state, raw)));
}

/** Returns the failure that ends all children, or undefined. */
async function settleChildren(
  turn: Turn,
  frame: Frame,
  state: Parallel | MapState,
  wait: ChildrenWait,
  settle: Settle,
): Promise<Failure | undefined> {
  for (const [index, branch] of Object.entries(wait.running)) {
    const machine = machineOf(state, Number(index));
    const prefix = childPrefix(frame, index);
    const outcome = await settle(turn, { machine, branch, prefix, outer: frame });
    if (outcome === undefined) continue;
    delete wait.running[index];
    const succeeded = 'output' in outcome;
    if (state.Type === 'Map')
      turn.record(succeeded ? 'MapIterationSucceeded' : 'MapIterationFailed', {
        way: prefix.slice(0, -1),
        detail: { index: Number(index) },
      });
    const failure = countOutcome(wait, index, outcome);
    if (failure) return failure;
  }
  return undefined;
}

/** Counts the end of a child. Returns the failure that ends all children, or undefined. */
function countOutcome(wait: ChildrenWait, index: string, outcome: NonNullable<Outcome>): Failure | undefined {
  if ('failure' in outcome) {
    wait.failed++;
    return endOfAll(wait, outcome.failure);
  }
  wait.outputs[index] = outcome.output;
  return undefined;
}

/** Returns the failure of all children that follows from the failure of one; undefined if it is tolerated. */
function endOfAll(wait: ChildrenWait, failure: Failure): Failure | undefined {
  if (wait.tolerated === undefined) return failure;
  return wait.failed > wait.tolerated ? tooMany(wait, failure) : undefined;
}

const tooMany = ({ failed, total, tolerated }: ChildrenWait, { error, cause }: Failure): Failure => ({
  error: 'States.ExceedToleratedFailureThreshold',
  cause: `${failed} of ${total} iterations have failed, more than the tolerated ${tolerated}; the last failure: ${error}: ${cause}`,
});
