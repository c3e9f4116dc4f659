/** Takes a branch as far as it goes without waiting. */
import { type MapState, machinesOf, type Parallel, type State } from '../definition/types.ts';
import { type Failure, StateError, stateError } from '../failure.ts';
import type { Json } from '../json.ts';
import { bounded, inputOf, outputOf, passedOn } from './data.ts';
import { enter, type Move } from './enter.ts';
import { Query } from './query.ts';
import { recover } from './recover.ts';
import { type Branch, type ChildrenWait, wayOf } from './state.ts';
import { detailOf, type Frame, type Turn } from './turn.ts';

/** How a branch has ended; undefined while it waits. */
export type Outcome = { readonly output: Json } | { readonly failure: Failure } | undefined;

/** What has come of a state; undefined while it waits. */
type Step =
  | { readonly move: Move }
  | { readonly failure: Failure; readonly ofBranch?: boolean }
  | { readonly again: true }
  | undefined;

/** A branch that is about to enter a state. */
export const startBranch = (state: string, input: Json, now: number, item?: Branch['item']): Branch => ({
  state,
  input,
  entered: now,
  visit: 0,
  attempt: 0,
  ...(item !== undefined && { item }),
  wait: { for: 'turn' },
});

export async function settle(turn: Turn, frame: Frame): Promise<Outcome> {
  const { branch, machine } = frame;
  for (;;) {
    const state = Object.hasOwn(machine.States, branch.state) ? machine.States[branch.state] : undefined;
    if (state === undefined)
      return { failure: { error: 'States.Runtime', cause: `there is no state ${branch.state}` } };
    const step = await caught(() => stepOf(turn, frame, state));
    if (step === undefined) return undefined;
    if ('again' in step) continue;
    const after = 'move' in step ? await caught(async () => leave(turn, frame, state, step.move)) : step;
    if (after === undefined) return undefined;
    if ('failure' in after) {
      const end = await afterFailure(turn, frame, state, after.failure, 'ofBranch' in after);
      if (end !== 'again') return end;
    } else if ('move' in after && after.move.next === undefined) return { output: after.move.output };
  }
}

/** A StateError as the failure that it is. */
async function caught(run: () => Promise<Step>): Promise<Step> {
  try {
    return await run();
  } catch (error) {
    if (error instanceof StateError) return { failure: error.failure };
    throw error;
  }
}

async function afterFailure(
  turn: Turn,
  frame: Frame,
  state: State,
  failure: Failure,
  ofBranch: boolean,
): Promise<Outcome | 'again'> {
  const { branch, prefix } = frame;
  if (branch.wait.for === 'children') {
    turn.stopTasks(branch, prefix);
    const type = state.Type === 'Map' ? 'MapStateFailed' : 'ParallelStateFailed';
    turn.record(type, { state: branch.state, ...wayIn(frame), detail: detailOf(failure) });
  }
  // A retry has its own wait; whatever happens else, nothing of the failed work is left.
  branch.wait = { for: 'failure', failure };
  const recovered = await recover(turn, frame, state, failure, ofBranch);
  if (recovered === undefined) return undefined;
  if ('failure' in recovered) return recovered;
  const step = await caught(async () => leave(turn, frame, state, recovered.move));
  return step !== undefined && 'failure' in step ? { failure: step.failure } : 'again';
}

const wayIn = ({ prefix }: Frame) => (prefix === '' ? {} : { way: prefix.slice(0, -1) });

/** Out of the state, and to the next one when there is one. */
function leave(turn: Turn, frame: Frame, state: State, move: Move): Step {
  const { branch } = frame;
  const output = bounded(`the output of ${branch.state}`, move.output);
  turn.record(`${state.Type}StateExited`, { state: branch.state, ...wayIn(frame) });
  if (move.next === undefined) return { move: { output } };
  branch.state = move.next;
  branch.input = output;
  branch.entered = turn.ports.now;
  branch.visit++;
  branch.attempt = 0;
  delete branch.retries;
  branch.wait = { for: 'turn' };
  return { again: true };
}

async function stepOf(turn: Turn, frame: Frame, state: State): Promise<Step> {
  const { branch } = frame;
  const { wait } = branch;
  switch (wait.for) {
    case 'task':
    case 'time':
    case 'retry':
      return undefined;
    case 'failure':
      return { failure: wait.failure };
    case 'result':
      return { move: await completed(turn, frame, state, wait.result) };
    case 'children':
      return childrenStep(turn, frame, state as Parallel | MapState, wait);
    case 'turn':
      return entering(turn, frame, state);
  }
}

async function entering(turn: Turn, frame: Frame, state: State): Promise<Step> {
  if (!turn.take()) return undefined;
  const { branch } = frame;
  if (branch.attempt === 0) {
    branch.entered = turn.ports.now;
    turn.record(`${state.Type}StateEntered`, { state: branch.state, ...wayIn(frame) });
  }
  const entered = await enter(turn, frame, state);
  if ('move' in entered) return entered;
  if ('result' in entered) return { move: await completed(turn, frame, state, entered.result) };
  branch.wait = entered.wait;
  if (entered.wait.for === 'children')
    turn.record(`${state.Type as 'Map' | 'Parallel'}StateStarted`, {
      state: branch.state,
      ...wayIn(frame),
      detail: { length: entered.wait.total },
    });
  return { again: true };
}

/** The work of the state is done: its result goes through its fields. */
async function completed(turn: Turn, frame: Frame, state: State, result: Json): Promise<Move> {
  const query = new Query(turn, frame, state);
  const next = 'Next' in state && state.Next !== undefined ? { next: state.Next } : {};
  const { input } = frame.branch;
  if (state.Type === 'Wait')
    return { output: await passedOn(query, frame, state, inputOf(query, state, input)), ...next };
  if (state.Type === 'Pass' && query.language === 'JSONata')
    return { output: await passedOn(query, frame, state, input), ...next };
  return { output: await outputOf(query, frame, state as Parallel, result), ...next };
}

async function childrenStep(
  turn: Turn,
  frame: Frame,
  state: Parallel | MapState,
  wait: ChildrenWait,
): Promise<Step> {
  for (;;) {
    await startChildren(turn, frame, state, wait);
    const ended = await settleChildren(turn, frame, state, wait);
    if (ended !== undefined) return { failure: ended, ofBranch: true };
    const running = Object.keys(wait.running).length;
    if (wait.started === wait.total && running === 0) break;
    // What has ended may have made room for others.
    if (turn.spent || wait.started === wait.total || running >= wait.limit) return undefined;
  }
  const result = Object.entries(wait.outputs)
    .sort(([a], [b]) => Number(a) - Number(b))
    .map(([, output]) => output);
  turn.record(`${state.Type}StateSucceeded`, { state: frame.branch.state, ...wayIn(frame) });
  return { move: await completed(turn, frame, state, result) };
}

const childPrefix = ({ branch, prefix }: Frame, index: string | number) =>
  `${wayOf(prefix, branch)}.${index}.`;

async function startChildren(
  turn: Turn,
  frame: Frame,
  state: Parallel | MapState,
  wait: ChildrenWait,
): Promise<void> {
  const machines = machinesOf(state);
  while (wait.started < wait.total && Object.keys(wait.running).length < wait.limit && !turn.spent) {
    const index = wait.started;
    const machine = machines[state.Type === 'Map' ? 0 : index];
    if (machine === undefined) throw stateError('States.Runtime', 'the definition has changed');
    const [value, ...rest] = wait.items ?? [];
    if (state.Type === 'Map' && value !== undefined) {
      const given = await itemInput(turn, frame, state, { index, value });
      wait.items = rest;
      wait.running[index] = startBranch(machine.StartAt, given, turn.ports.now, { index, value });
      turn.record('MapIterationStarted', { way: childPrefix(frame, index).slice(0, -1), detail: { index } });
    } else {
      const given = wait.input === undefined ? frame.branch.input : wait.input;
      wait.running[index] = startBranch(machine.StartAt, given, turn.ports.now);
    }
    wait.started++;
  }
}

/** What an iteration begins with: the item, or what the ItemSelector makes of it. */
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
  if (query.language === 'JSONata') return bounded('an item', await query.express(selector, { input: raw }));
  return bounded('an item', query.fill(selector, inputOf(query, state, raw)));
}

/** The failure that ends them all; undefined when there is none. */
async function settleChildren(
  turn: Turn,
  frame: Frame,
  state: Parallel | MapState,
  wait: ChildrenWait,
): Promise<Failure | undefined> {
  const machines = machinesOf(state);
  for (const [index, branch] of Object.entries(wait.running)) {
    const machine = machines[state.Type === 'Map' ? 0 : Number(index)];
    if (machine === undefined) throw stateError('States.Runtime', 'the definition has changed');
    const prefix = childPrefix(frame, index);
    const outcome = await settle(turn, { machine, branch, prefix, outer: frame });
    if (outcome === undefined) continue;
    delete wait.running[index];
    const told = { way: prefix.slice(0, -1), detail: { index: Number(index) } };
    if ('output' in outcome) {
      wait.outputs[index] = outcome.output;
      if (state.Type === 'Map') turn.record('MapIterationSucceeded', told);
      continue;
    }
    if (state.Type === 'Map') turn.record('MapIterationFailed', told);
    wait.failed++;
    if (wait.tolerated === undefined) return outcome.failure;
    if (wait.failed > wait.tolerated) return tooMany(wait, outcome.failure);
  }
  return undefined;
}

const tooMany = ({ failed, total, tolerated }: ChildrenWait, { error, cause }: Failure): Failure => ({
  error: 'States.ExceedToleratedFailureThreshold',
  cause: `${failed} of ${total} iterations have failed, and ${tolerated} may; the last one: ${error}: ${cause}`,
});
