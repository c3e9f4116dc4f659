/** Starts a run and advances it, event by event. The arguments are never changed. */
import type { Definition } from '../definition/types.ts';
import { type Failure, failureOf } from '../failure.ts';
import { bytesOf, excessOf, type Json } from '../json.ts';
import { maxData, maxDataDepth, maxEvents, maxNesting, maxRunData } from '../limits.ts';
import { startBranch } from './children.ts';
import { type Command, duesOf, newCommands, pending } from './commands.ts';
import { settle } from './settle.ts';
import { type Branch, branchesOf, type Execution, type RunState } from './state.ts';
import { detailOf, type EntryType, type HistoryEntry, type Ports, Turn } from './turn.ts';

/** An event. An event about a task for which no state waits changes nothing. */
export type RunEvent =
  | { readonly type: 'TaskSucceeded'; readonly id: string; readonly output: Json }
  | { readonly type: 'TaskFailed'; readonly id: string; readonly error: string; readonly cause: string }
  | { readonly type: 'TaskTimedOut'; readonly id: string }
  | { readonly type: 'TaskHeartbeat'; readonly id: string }
  /** A cancelled task no longer exists. */
  | { readonly type: 'TaskStopped'; readonly id: string }
  /** A due time may have come. */
  | { readonly type: 'Time' }
  | { readonly type: 'Continue' }
  /** A user stops the run. */
  | { readonly type: 'Stop'; readonly error?: string; readonly cause?: string }
  /** The run is too large to be stored. */
  | { readonly type: 'Excess'; readonly cause: string };

export interface Advanced {
  readonly state: RunState;
  /** Commands that are new; `pending(state)` returns all of them. */
  readonly commands: readonly Command[];
  readonly history: readonly HistoryEntry[];
  /** True if there is more to do at once, by the event Continue. The command `continue` means the same. */
  readonly more: boolean;
}

/** Maximum nesting of JSON values in a state: data in nested branches. */
const maxStateDepth = maxDataDepth + 10 * maxNesting;
/** Number of branches that can hold only a few times the maximum data. */
const fewBranches = 8;

/** Starts a run. The definition must have passed `checkDefinition`. */
export function startRun(
  definition: Definition,
  input: Json,
  execution: Execution,
  ports: Ports,
): Promise<Advanced> {
  const { TimeoutSeconds: timeout } = definition;
  const state: RunState = {
    format: 1,
    status: 'Running',
    execution,
    input,
    started: ports.now,
    ...(timeout !== undefined && { due: ports.now + timeout * 1000 }),
    events: 0,
    stopping: [],
  };
  const turn = new Turn(definition, state, ports);
  turn.record('ExecutionStarted', { input });
  const excess = excessOf(input, maxData);
  if (excess === undefined) state.root = startBranch(definition.StartAt, input, ports.now);
  else {
    // The input could not be stored.
    state.input = null;
    turn.end('Failed', { error: 'States.DataLimitExceeded', cause: `the input of the run ${excess}` });
  }
  return carryOn(turn, []);
}

/**
 * Advances the run. The same arguments always give the same result; `ports` has the time, the randomness and
 * the evaluation of JSONata.
 */
export async function advance(
  definition: Definition,
  state: RunState,
  event: RunEvent,
  ports: Ports,
): Promise<Advanced> {
  const before = pending(state);
  const turn = new Turn(definition, structuredClone(state), ports);
  apply(turn, event);
  return carryOn(turn, before);
}

async function carryOn(turn: Turn, before: readonly Command[]): Promise<Advanced> {
  const { state } = turn;
  if (state.root !== undefined) passTime(turn, state.root);
  // The time may have ended the run.
  if (state.root !== undefined) await settleRoot(turn, state.root);
  const commands = pending(state);
  return {
    state,
    commands: newCommands(before, commands),
    history: turn.history,
    more: commands.some(({ type }) => type === 'continue'),
  };
}

/** Ends a run whose time is over, or fires the timers that are due. */
function passTime(turn: Turn, root: NonNullable<RunState['root']>): void {
  const { state, ports } = turn;
  if (state.due !== undefined && state.due <= ports.now)
    turn.end('TimedOut', { error: 'States.Timeout', cause: 'the TimeoutSeconds of the workflow are over' });
  else for (const { way, branch } of [...branchesOf(root)]) fireDue(turn, way, branch);
}

async function settleRoot(turn: Turn, root: NonNullable<RunState['root']>): Promise<void> {
  const outcome = await settle(turn, { machine: turn.definition, branch: root, prefix: '' });
  if (outcome !== undefined && 'failure' in outcome) turn.end('Failed', outcome.failure);
  else if (outcome !== undefined) succeed(turn, outcome.output);
  else limit(turn);
}

function succeed(turn: Turn, output: Json): void {
  delete turn.state.root;
  turn.state.status = 'Succeeded';
  turn.state.output = output;
  turn.record('ExecutionSucceeded', { output });
}

/** Fails a run that continues forever or is too large to be stored. */
function limit(turn: Turn): void {
  if (turn.state.events > maxEvents) {
    turn.end('Failed', {
      error: 'States.Runtime',
      cause: `the run has more than ${maxEvents} entries of history`,
    });
    return;
  }
  const excess = excessOfState(turn.state);
  if (excess !== undefined)
    turn.end('Failed', { error: 'States.DataLimitExceeded', cause: `the state of the run ${excess}` });
}

/**
 * Returns the excess of the state. Many branches may each hold the same large value; the state is then
 * serialized only after it is known to be small enough.
 */
function excessOfState(state: RunState): string | undefined {
  const json = state as unknown as Json;
  const isWide = state.root !== undefined && countBranches(state.root) > fewBranches;
  if (isWide) return excessOf(json, maxRunData, maxStateDepth);
  const bytes = bytesOf(json);
  return bytes > maxRunData ? `has ${bytes} bytes of JSON, and may have ${maxRunData}` : undefined;
}

function countBranches(root: Branch): number {
  let count = 0;
  for (const _ of branchesOf(root)) count++;
  return count;
}

function apply(turn: Turn, event: RunEvent): void {
  const { state } = turn;
  if (event.type === 'Stop') {
    if (state.root === undefined) return;
    turn.end('Aborted', { error: event.error ?? '', cause: event.cause ?? '' });
    return;
  }
  if (event.type === 'Excess' && state.root !== undefined)
    turn.end('Failed', { error: 'States.DataLimitExceeded', cause: event.cause });
  if ('id' in event) applyToTask(turn, event);
}

function applyToTask(turn: Turn, event: Extract<RunEvent, { id: string }>): void {
  const { state } = turn;
  if (event.type !== 'TaskHeartbeat') state.stopping = state.stopping.filter((id) => id !== event.id);
  const branch = state.root && taskOf(state.root, event.id);
  if (branch === undefined || branch.wait.for !== 'task') return;
  if (event.type === 'TaskHeartbeat') {
    if (branch.wait.heartbeatSeconds !== undefined)
      branch.wait.heartbeatDue = turn.ports.now + branch.wait.heartbeatSeconds * 1000;
  } else if (event.type === 'TaskSucceeded') finish(turn, event.id, branch, event.output);
  else fail(turn, event.id, branch, failureBy(event));
}

function failureBy(event: Extract<RunEvent, { id: string }>): Failure {
  if (event.type === 'TaskFailed') return failureOf(event.error, event.cause);
  return event.type === 'TaskTimedOut'
    ? { error: 'States.Timeout', cause: 'the task took too long' }
    : { error: 'States.TaskFailed', cause: 'the task was stopped' };
}

function taskOf(root: Branch, id: string): Branch | undefined {
  for (const { way, branch } of branchesOf(root)) if (way === id) return branch;
  return undefined;
}

function finish(turn: Turn, way: string, branch: Branch, output: Json): void {
  const excess = excessOf(output, maxData);
  if (excess !== undefined) {
    fail(turn, way, branch, { error: 'States.DataLimitExceeded', cause: `the output of the task ${excess}` });
    return;
  }
  branch.wait = { for: 'result', result: output };
  turn.record('TaskSucceeded', { state: branch.state, way, output });
}

function fail(turn: Turn, way: string, branch: Branch, failure: Failure): void {
  const timedOut = failure.error === 'States.Timeout' || failure.error === 'States.HeartbeatTimeout';
  const type: EntryType = timedOut ? 'TaskTimedOut' : 'TaskFailed';
  branch.wait = { for: 'failure', failure };
  turn.record(type, { state: branch.state, way, detail: detailOf(failure) });
}

/** Continues a branch whose due time has come. */
function fireDue(turn: Turn, way: string, branch: Branch): void {
  const { wait } = branch;
  const { now } = turn.ports;
  if (!duesOf(wait).some((due) => due <= now)) return;
  if (wait.for === 'retry') {
    branch.attempt++;
    branch.wait = { for: 'turn' };
  } else if (wait.for === 'time') branch.wait = { for: 'result', result: null };
  else if (wait.for === 'task') {
    turn.state.stopping.push(way);
    const late = wait.due !== undefined && wait.due <= now;
    fail(turn, way, branch, {
      error: late ? 'States.Timeout' : 'States.HeartbeatTimeout',
      cause: late
        ? `the task took longer than ${wait.timeoutSeconds} s`
        : `no heartbeat of the task within ${wait.heartbeatSeconds} s`,
    });
  }
}
