/**
 * A run of a workflow as data: everything that has to be known to go on, at any moment, is in here, so that a run survives the
 * process that drives it. It is JSON: what is absent is not there, and nothing is undefined. Times are milliseconds since the Unix epoch.
 */
import type { Failure } from '../failure.ts';
import type { Json } from '../json.ts';

export type RunStatus = 'Running' | 'Succeeded' | 'Failed' | 'TimedOut' | 'Aborted';

/** Whose run it is: what the context object says. */
export interface Execution {
  readonly id: string;
  readonly name: string;
  readonly workflow: { readonly id: string; readonly name: string };
}

export interface RunState {
  /** Of this representation. */
  format: 1;
  status: RunStatus;
  execution: Execution;
  input: Json;
  started: number;
  /** When the TimeoutSeconds of the definition are over. */
  due?: number;
  /** Entries of history so far. */
  events: number;
  /** While the run goes on. */
  root?: Branch;
  /** Tasks that are to be cancelled and of which nobody has said yet that they are. */
  stopping: string[];
  /** Of a run that has succeeded. */
  output?: Json;
  /** Of a run that has ended otherwise. */
  failure?: Failure;
}

/** One way through one machine: the workflow's own, that of a branch of a Parallel, or that of an iteration of a Map. */
export interface Branch {
  /** The state that it is in. */
  state: string;
  /** What the state was given. */
  input: Json;
  entered: number;
  /** States that were entered before this one: with the attempt it makes the ids of tasks. */
  visit: number;
  attempt: number;
  /** How often each retrier of the state has been used. */
  retries?: number[];
  /** What the states of this machine have assigned. */
  variables?: Record<string, Json>;
  /** Of an iteration: its item, and which one it is. */
  item?: { readonly index: number; readonly value: Json };
  wait: Waiting;
}

/** What a branch waits for. */
export type Waiting =
  /** To enter its state, or try it again: as soon as there is a call that does it. */
  | { for: 'turn' }
  | TaskWait
  | { for: 'time'; due: number }
  | { for: 'retry'; due: number }
  | ChildrenWait
  /** The work of the state is done; what comes of it is looked at next. */
  | { for: 'result'; result: Json }
  | { for: 'failure'; failure: Failure };

export interface TaskWait {
  for: 'task';
  resource: string;
  /** Absent when it is the input of the state. */
  input?: Json;
  timeoutSeconds?: number;
  heartbeatSeconds?: number;
  due?: number;
  heartbeatDue?: number;
  credentials?: Json;
}

/** Branches of a Parallel, iterations of a Map: by their index, from 0. */
export interface ChildrenWait {
  for: 'children';
  total: number;
  /** How many have been started. */
  started: number;
  /** How many may run at a time. */
  limit: number;
  /** Of a Parallel: what each branch is given, absent when it is the input of the state. */
  input?: Json;
  /** Of a Map: the items that have not been started. */
  items?: Json[];
  running: Record<string, Branch>;
  outputs: Record<string, Json>;
  /** Iterations that have failed, and how many may; without the latter the first failure is that of the Map. */
  failed: number;
  tolerated?: number;
}

/** A way through a state, as its tasks are called: unique in a run, the same after a restart, and good in a name. */
export const wayOf = (prefix: string, { visit, attempt }: Branch): string => `${prefix}${visit}-${attempt}`;

/** Every branch with its way, outer ones first. */
export function* branchesOf(branch: Branch, prefix = ''): Iterable<{ way: string; branch: Branch }> {
  const way = wayOf(prefix, branch);
  yield { way, branch };
  if (branch.wait.for !== 'children') return;
  for (const [index, child] of Object.entries(branch.wait.running))
    yield* branchesOf(child, `${way}.${index}.`);
}
