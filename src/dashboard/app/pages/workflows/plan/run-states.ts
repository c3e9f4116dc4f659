/** Progress of a run of a workflow: the outcome of each of its states, from the history. Pure. */
import type { JsonObject } from '../../../../../apimachinery/equality.ts';
import { numberAt, textAt, valueAt } from '../../../../../apimachinery/fields.ts';

export interface RunState {
  readonly outcome: 'running' | 'succeeded' | 'failed' | 'caught';
  /** Number of times that the state was entered: once for each item of a Map. */
  readonly entered: number;
  readonly left: number;
  readonly retries: number;
  /** Input of the last entry and output of the last exit, as JSON; '' if there is none. */
  readonly input: string;
  readonly output: string;
  /** Error and cause of the last failure; '' if there is none. */
  readonly failure: string;
  /** Times of the first entry and of the last exit, in milliseconds since the epoch. */
  readonly beganMs: number;
  readonly endedMs: number | undefined;
}

const fresh: RunState = {
  ...{ outcome: 'running', entered: 0, left: 0, retries: 0, input: '', output: '', failure: '' },
  ...{ beganMs: 0, endedMs: undefined },
};

/**
 * Returns the states by their names. `phase` is that of the run: states that have not ended when a run fails
 * have failed with it.
 */
export function runStates(entries: readonly JsonObject[], phase: string): ReadonlyMap<string, RunState> {
  const states = new Map<string, RunState>();
  for (const entry of entries.toSorted((a, b) => numberAt(a, 'id') - numberAt(b, 'id'))) {
    const name = textAt(entry, 'state');
    if (name !== '') states.set(name, after(states.get(name) ?? fresh, entry));
  }
  const isOver = ['Failed', 'Aborted', 'TimedOut'].includes(phase);
  if (isOver)
    for (const [name, state] of states)
      if (state.outcome === 'running') states.set(name, { ...state, outcome: 'failed' });
  return states;
}

function after(state: RunState, entry: JsonObject): RunState {
  const type = textAt(entry, 'type');
  if (type.endsWith('StateEntered')) return entered(state, entry);
  if (type.endsWith('StateExited')) return left(state, entry);
  const failure = failureOf(entry) || state.failure;
  if (type === 'RetryScheduled') return { ...state, failure, retries: state.retries + 1 };
  if (type === 'ErrorCaught') return { ...state, failure, outcome: 'caught' };
  return /Failed$|TimedOut$/.test(type) ? { ...state, failure } : state;
}

const timeOf = (entry: JsonObject) => Date.parse(textAt(entry, 'time'));

const entered = (state: RunState, entry: JsonObject): RunState => ({
  ...state,
  outcome: 'running',
  entered: state.entered + 1,
  input: textAt(entry, 'input'),
  beganMs: state.entered === 0 ? timeOf(entry) : state.beganMs,
  endedMs: undefined,
});

function left(state: RunState, entry: JsonObject): RunState {
  const count = state.left + 1;
  const ended = state.outcome === 'caught' ? 'caught' : 'succeeded';
  return {
    ...state,
    left: count,
    outcome: count >= state.entered ? ended : 'running',
    output: textAt(entry, 'output'),
    endedMs: timeOf(entry),
  };
}

function failureOf(entry: JsonObject): string {
  const [error, cause] = ['error', 'cause'].map((field) => valueAt(entry, 'detail', field));
  return [error, cause].filter((part) => typeof part === 'string' && part !== '').join(': ');
}
