/** Commands of a run, derived from its state alone: they are the same after a restart. */
import { identityOf } from '../../apimachinery/equality.ts';
import type { Json } from '../json.ts';
import { parseResource, type Resource } from '../resource.ts';
import { type Branch, branchesOf, type RunState, type TaskWait, type Waiting } from './state.ts';

export type Command =
  /** The task of this id must exist; requesting an existing one changes nothing. */
  | {
      readonly type: 'startTask';
      readonly id: string;
      readonly state: string;
      readonly resource: Resource;
      readonly input: Json;
      readonly timeoutSeconds?: number;
      readonly heartbeatSeconds?: number;
      readonly credentials?: Json;
    }
  /** The task must not exist; TaskStopped confirms the cancellation. */
  | { readonly type: 'cancelTask'; readonly id: string }
  /**
   * The event Time is due at this time (milliseconds since the Unix epoch); there is one timer for the whole
   * run.
   */
  | { readonly type: 'setTimer'; readonly due: number }
  /** There is more to do at once, by the event Continue. */
  | { readonly type: 'continue' }
  | { readonly type: 'done'; readonly output: Json }
  | {
      readonly type: 'failed';
      readonly status: 'Failed' | 'TimedOut' | 'Aborted';
      readonly error: string;
      readonly cause: string;
    };

/** Returns all outstanding commands. */
export function pending(state: RunState): Command[] {
  const cancels = state.stopping.map((id) => ({ type: 'cancelTask', id }) as const);
  if (state.root === undefined) return [...cancels, endOf(state)];
  const branches = [...branchesOf(state.root)];
  const due = Math.min(
    state.due ?? Number.POSITIVE_INFINITY,
    ...branches.flatMap(({ branch }) => duesOf(branch.wait)),
  );
  return [
    ...cancels,
    ...branches.flatMap(({ way, branch }) =>
      branch.wait.for === 'task' ? [startOf(way, branch, branch.wait)] : [],
    ),
    ...(due < Number.POSITIVE_INFINITY ? [{ type: 'setTimer', due } as const] : []),
    ...(branches.some(({ branch }) => isReady(branch.wait)) ? [{ type: 'continue' } as const] : []),
  ];
}

/** Returns the outstanding commands that are new. */
export function newCommands(before: readonly Command[], now: readonly Command[]): Command[] {
  const known = new Set(before.map(keyOf));
  return now.filter((command) => !known.has(keyOf(command)));
}

/**
 * Returns the key of a command. A task is identified by its id, because its input never changes. A `continue`
 * is always new.
 */
function keyOf(command: Command): unknown {
  if (command.type === 'continue') return command;
  return command.type === 'startTask' ? `start ${command.id}` : identityOf(command);
}

function endOf({ status, output = null, failure }: RunState): Command {
  if (status === 'Running' || status === 'Succeeded') return { type: 'done', output };
  return { type: 'failed', status, error: failure?.error ?? '', cause: failure?.cause ?? '' };
}

function startOf(id: string, { state, input }: Branch, wait: TaskWait): Command {
  const resource = parseResource(wait.resource);
  if (resource === undefined)
    throw new Error(`the resource of the task ${id} is not valid: ${wait.resource}`);
  return {
    type: 'startTask',
    id,
    state,
    resource,
    input: wait.input === undefined ? input : wait.input,
    ...(wait.timeoutSeconds !== undefined && { timeoutSeconds: wait.timeoutSeconds }),
    ...(wait.heartbeatSeconds !== undefined && { heartbeatSeconds: wait.heartbeatSeconds }),
    ...(wait.credentials !== undefined && { credentials: wait.credentials }),
  };
}

/** Returns the times for which a branch waits. */
export function duesOf(wait: Waiting): readonly number[] {
  if (wait.for === 'time' || wait.for === 'retry') return [wait.due];
  if (wait.for !== 'task') return [];
  return [wait.due, wait.heartbeatDue].filter((due) => due !== undefined);
}

/** Returns true if the branch waits for nothing but a call. */
function isReady(wait: Waiting): boolean {
  if (wait.for === 'children')
    return wait.started < wait.total && Object.keys(wait.running).length < wait.limit;
  return wait.for === 'turn' || wait.for === 'result' || wait.for === 'failure';
}
