/**
 * A run of a workflow as data. It contains everything that is needed to continue at any moment, so that a run
 * survives the process that drives it. It is JSON: absent fields are missing, never undefined. Times are
 * milliseconds since the Unix epoch.
 */
import type { Failure } from '../failure.ts';
import type { Json } from '../json.ts';

export type RunStatus = 'Running' | 'Succeeded' | 'Failed' | 'TimedOut' | 'Aborted';

/** Identity of the run in the context object. */
export interface Execution {
  readonly id: string;
  readonly name: string;
  readonly workflow: { readonly id: string; readonly name: string };
}

export interface RunState {
  /** Version of this representation. */
  format: 1;
  status: RunStatus;
  execution: Execution;
  input: Json;
  started: number;
  /** Time at which the TimeoutSeconds of the definition have passed. */
  due?: number;
  /** Number of history entries so far. */
  events: number;
  /** Set while the run is running. */
  root?: Branch;
  /** Tasks to cancel whose cancellation is not confirmed yet. */
  stopping: string[];
  /** Output of a run that has succeeded. */
  output?: Json;
  /** Failure of a run that has ended otherwise. */
  failure?: Failure;
}

/**
 * Execution of one machine: the workflow's own, that of a branch of a Parallel, or that of an iteration of a
 * Map.
 */
export interface Branch {
  /** Name of the current state. */
  state: string;
  /** Input of the state. */
  input: Json;
  entered: number;
  /** Number of states entered before this one. With the attempt it forms the ids of tasks. */
  visit: number;
  attempt: number;
  /** Number of uses of each retrier of the state. */
  retries?: number[];
  /** Variables that the states of this machine have assigned. */
  variables?: Record<string, Json>;
  /** Item and index of an iteration. */
  item?: { readonly index: number; readonly value: Json };
  wait: Waiting;
}

/** The wait of a branch: the event or action that continues it. */
export type Waiting =
  /** Entering or retrying the state, by the next call. */
  | { for: 'turn' }
  | TaskWait
  | { for: 'time'; due: number }
  | { for: 'retry'; due: number }
  | ChildrenWait
  /** Processing of the result after the work of the state is done. */
  | { for: 'result'; result: Json }
  | { for: 'failure'; failure: Failure };

export interface TaskWait {
  for: 'task';
  resource: string;
  /** Absent if it equals the input of the state. */
  input?: Json;
  timeoutSeconds?: number;
  heartbeatSeconds?: number;
  due?: number;
  heartbeatDue?: number;
  credentials?: Json;
}

/** Branches of a Parallel or iterations of a Map, by their index, from 0. */
export interface ChildrenWait {
  for: 'children';
  total: number;
  /** Number of started children. */
  started: number;
  /** Maximum number of concurrent children. */
  limit: number;
  /** Input of each branch of a Parallel; absent if it equals the input of the state. */
  input?: Json;
  /** Items of a Map that have not been started. */
  items?: Json[];
  running: Record<string, Branch>;
  outputs: Record<string, Json>;
  /**
   * Number of failed iterations, and the tolerated number. Without the latter the first failure fails the
   * Map.
   */
  failed: number;
  tolerated?: number;
}

/**
 * Returns the identifier of a visit of a state, used for its tasks: unique in a run, the same after a
 * restart, and valid in a name.
 */
export const wayOf = (prefix: string, { visit, attempt }: Branch): string => `${prefix}${visit}-${attempt}`;

/** Yields every branch with its way, outer ones first. */
export function* branchesOf(branch: Branch, prefix = ''): Iterable<{ way: string; branch: Branch }> {
  const way = wayOf(prefix, branch);
  yield { way, branch };
  if (branch.wait.for !== 'children') return;
  for (const [index, child] of Object.entries(branch.wait.running))
    yield* branchesOf(child, `${way}.${index}.`);
}
