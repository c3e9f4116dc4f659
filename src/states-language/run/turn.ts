/** One call of `advance`: the state that it works on, what it was given, what it has found to tell. */
import type { Random } from '../../base/random.ts';
import type { Definition, Machine, QueryLanguage, StateType } from '../definition/types.ts';
import type { Failure } from '../failure.ts';
import type { Json } from '../json.ts';
import type { Evaluate } from '../jsonata/expression.ts';
import { mostTransitions, mostTurnWork } from '../limits.ts';
import { type Branch, branchesOf, type RunState } from './state.ts';

/** What a run needs of the world. */
export interface Ports {
  /** Milliseconds since the Unix epoch. */
  readonly now: number;
  readonly random: Random;
  readonly evaluate: Evaluate;
}

/** One entry of the history of a run. The types are named as AWS names them. */
export interface HistoryEntry {
  /** From 1, without gaps. */
  readonly id: number;
  /** Milliseconds since the Unix epoch. */
  readonly time: number;
  readonly type: EntryType;
  readonly state?: string;
  /** Which task, or in which branch or iteration: the way through the states around. */
  readonly way?: string;
  readonly detail?: Readonly<Record<string, string | number>>;
  /** What the run, the state or the task was given, of any size. */
  readonly input?: Json;
  /** What it gave. */
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

/** A branch, and where it lies. */
export interface Frame {
  readonly machine: Machine;
  readonly branch: Branch;
  /** Of the ways of this branch: empty for the workflow's own. */
  readonly prefix: string;
  readonly outer?: Frame;
}

export class Turn {
  readonly definition: Definition;
  readonly state: RunState;
  readonly ports: Ports;
  readonly history: HistoryEntry[] = [];
  private left = mostTransitions;
  private leftWork = mostTurnWork;

  /** `state` is changed. */
  constructor(definition: Definition, state: RunState, ports: Ports) {
    this.definition = definition;
    this.state = state;
    this.ports = ports;
  }

  get language(): QueryLanguage | undefined {
    return this.definition.QueryLanguage;
  }

  /** Whether one more state may be entered in this call; counts it. */
  take(): boolean {
    if (this.spent) return false;
    this.left--;
    return true;
  }

  get spent(): boolean {
    return this.left === 0 || this.leftWork <= 0;
  }

  /** So many values were looked at: from some number on others have their turn. */
  worked(values: number): void {
    this.leftWork -= values;
  }

  record(type: EntryType, more: Omit<HistoryEntry, 'id' | 'time' | 'type'> = {}): void {
    this.state.events++;
    this.history.push({ id: this.state.events, time: this.ports.now, type, ...more });
  }

  /** Whatever runs in the branch is to be cancelled. */
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

/** Characters of a cause that the history repeats. */
const mostCause = 500;

export const detailOf = ({ error, cause }: Failure): Readonly<Record<string, string>> => ({
  error,
  cause: cause.length > mostCause ? `${cause.slice(0, mostCause)}…` : cause,
});
