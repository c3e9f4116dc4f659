/** One call of `advance`: the state that it changes, its inputs, and the recorded history. */
import type { Random } from '../../base/random.ts';
import type { Definition, Machine, QueryLanguage, StateType } from '../definition/types.ts';
import type { Failure } from '../failure.ts';
import type { Json } from '../json.ts';
import type { Evaluate } from '../jsonata/expression.ts';
import { maxTransitions, maxTurnWork } from '../limits.ts';
import { type Branch, branchesOf, type RunState } from './state.ts';

/** External dependencies of a run. */
export interface Ports {
  /** Current time in milliseconds since the Unix epoch. */
  readonly now: number;
  readonly random: Random;
  readonly evaluate: Evaluate;
}

/** One entry of the history of a run. The types have the names of AWS. */
export interface HistoryEntry {
  /** Number of the entry, from 1, without gaps. */
  readonly id: number;
  /** Milliseconds since the Unix epoch. */
  readonly time: number;
  readonly type: EntryType;
  readonly state?: string;
  /** Identifies the task, the branch or the iteration by the way through the surrounding states. */
  readonly way?: string;
  readonly detail?: Readonly<Record<string, string | number>>;
  /** Input of the run, the state or the task, of any size. */
  readonly input?: Json;
  /** Output of the run, the state or the task. */
  readonly output?: Json;
}

export type EntryType =
  | `Execution${'Started' | 'Succeeded' | 'Failed' | 'TimedOut' | 'Aborted'}`
  | `${StateType}State${'Entered' | 'Exited'}`
  | `Task${'Scheduled' | 'Succeeded' | 'Failed' | 'TimedOut' | 'StateAborted'}`
  | `${'Map' | 'Parallel'}State${'Started' | 'Succeeded' | 'Failed'}`
  | `MapIteration${'Started' | 'Succeeded' | 'Failed' | 'Aborted'}`
  | 'RetryScheduled'
  | 'ErrorCaught';

/** A branch and its surroundings. */
export interface Frame {
  readonly machine: Machine;
  readonly branch: Branch;
  /** Prefix of the ways of this branch; empty for the workflow's own. */
  readonly prefix: string;
  readonly outer?: Frame;
}

export class Turn {
  readonly definition: Definition;
  readonly state: RunState;
  readonly ports: Ports;
  readonly history: HistoryEntry[] = [];
  private left = maxTransitions;
  private leftWork = maxTurnWork;

  /** Creates a turn. `state` is changed. */
  constructor(definition: Definition, state: RunState, ports: Ports) {
    this.definition = definition;
    this.state = state;
    this.ports = ports;
  }

  get language(): QueryLanguage | undefined {
    return this.definition.QueryLanguage;
  }

  /** Counts one entered state. Returns true if it may be entered in this call. */
  take(): boolean {
    if (this.spent) return false;
    this.left--;
    return true;
  }

  get spent(): boolean {
    return this.left === 0 || this.leftWork <= 0;
  }

  /** Counts examined values; above the maximum the call ends, so that others get their turn. */
  worked(values: number): void {
    this.leftWork -= values;
  }

  record(type: EntryType, more: Omit<HistoryEntry, 'id' | 'time' | 'type'> = {}): void {
    this.state.events++;
    this.history.push({ id: this.state.events, time: this.ports.now, type, ...more });
  }

  /** Cancels all tasks of the branch. */
  stopTasks(branch: Branch, prefix: string): void {
    for (const { way, branch: inner } of branchesOf(branch, prefix)) {
      if (inner.wait.for === 'task') {
        this.state.stopping.push(way);
        this.record('TaskStateAborted', { state: inner.state, way });
      }
      if (inner.item !== undefined && inner !== branch)
        this.record('MapIterationAborted', { way, detail: { index: inner.item.index } });
    }
  }

  /** Ends the run. */
  end(status: Exclude<RunState['status'], 'Running' | 'Succeeded'>, failure: Failure): void {
    const { state } = this;
    if (state.root !== undefined) this.stopTasks(state.root, '');
    delete state.root;
    state.status = status;
    state.failure = failure;
    this.record(`Execution${status}`, { detail: detailOf(failure) });
  }
}

/** Maximum characters of a cause in the history. */
const maxCause = 500;

export const detailOf = ({ error, cause }: Failure): Readonly<Record<string, string>> => ({
  error,
  cause: cause.length > maxCause ? `${cause.slice(0, maxCause)}…` : cause,
});
