/** Advances a branch as far as possible without waiting. */
import type { MapState, Parallel, State } from '../definition/types.ts';
import { type Failure, StateError } from '../failure.ts';
import type { Json } from '../json.ts';
import { type Outcome, runChildren } from './children.ts';
import { bounded, inputOf, outputOf, passedOn } from './data.ts';
import { enter, type Move } from './enter.ts';
import { Query } from './query.ts';
import { recover } from './recover.ts';
import type { ChildrenWait } from './state.ts';
import { detailOf, type Frame, type Turn } from './turn.ts';

/** Result of a state; undefined while it waits. */
type Step =
  | { readonly move: Move }
  | { readonly failure: Failure; readonly ofBranch?: boolean }
  | { readonly again: true }
  | undefined;

/** Advances the branch of the frame, whose `machine` must have been checked. */
export async function settle(turn: Turn, frame: Frame): Promise<Outcome> {
  for (;;) {
    const ended = await goOn(turn, frame);
    if (ended !== 'again') return ended;
  }
}

/** Makes one step: out of a state, into one, or out of the machine. */
async function goOn(turn: Turn, frame: Frame): Promise<Outcome | 'again'> {
  const { branch, machine } = frame;
  const state = Object.hasOwn(machine.States, branch.state) ? machine.States[branch.state] : undefined;
  if (state === undefined)
    return { failure: { error: 'States.Runtime', cause: `there is no state ${branch.state}` } };
  const step = await caught(() => stepOf(turn, frame, state));
  const after =
    step !== undefined && 'move' in step
      ? await caught(async () => leave(turn, frame, state, step.move))
      : step;
  if (after === undefined) return undefined;
  if ('again' in after) return 'again';
  if ('failure' in after) return afterFailure(turn, frame, state, after.failure, 'ofBranch' in after);
  return { output: after.move.output };
}

/** Converts a StateError to its failure. */
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
  // A retry sets its own wait; in all other cases nothing of the failed work is kept.
  branch.wait = { for: 'failure', failure };
  const recovered = await recover(turn, frame, state, failure, ofBranch);
  if (recovered === undefined) return undefined;
  if ('failure' in recovered) return recovered;
  const step = await caught(async () => leave(turn, frame, state, recovered.move));
  return step !== undefined && 'failure' in step ? { failure: step.failure } : 'again';
}

const wayIn = ({ prefix }: Frame) => (prefix === '' ? {} : { way: prefix.slice(0, -1) });

/** Leaves the state, and moves to the next one if there is one. */
function leave(turn: Turn, frame: Frame, state: State, move: Move): Step {
  const { branch } = frame;
  const output = bounded(turn, `the output of ${branch.state}`, move.output);
  turn.record(`${state.Type}StateExited`, { state: branch.state, ...wayIn(frame), output });
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
    turn.record(`${state.Type}StateEntered`, { state: branch.state, ...wayIn(frame), input: branch.input });
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

/** Processes the result of a state's work by the fields of the state. */
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
  const ended = await runChildren(turn, frame, state, wait, settle);
  if (ended === undefined) return undefined;
  if ('failure' in ended)
    return { failure: ended.failure, ...(state.Type === 'Parallel' && { ofBranch: true }) };
  turn.record(`${state.Type}StateSucceeded`, { state: frame.branch.state, ...wayIn(frame) });
  return { move: await completed(turn, frame, state, ended.result) };
}
