/** What has to be done for a run, read from its state alone: after a restart it is the same as before. */
import { identityOf } from '../../apimachinery/equality.ts';
import type { Json } from '../json.ts';
import { parseResource, type Resource } from '../resource.ts';
import { type Branch, branchesOf, type RunState, type TaskWait, type Waiting } from './state.ts';

export type Command =
  /** The task of this id has to be there; to ask for one that is there already changes nothing. */
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
  /** The task must not be there; who has seen to that says TaskStopped. */
  | { readonly type: 'cancelTask'; readonly id: string }
  /** At this time (milliseconds since the Unix epoch) the event Time is due; there is one timer for the whole run. */
  | { readonly type: 'setTimer'; readonly due: number }
  /** There is more to do at once: the event Continue. */
  | { readonly type: 'continue' }
  | { readonly type: 'done'; readonly output: Json }
  | {
      readonly type: 'failed';
      readonly status: 'Failed' | 'TimedOut' | 'Aborted';
      readonly error: string;
      readonly cause: string;
    };

/** All that is outstanding. */
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

/** What is outstanding now and was not before. */
export function newCommands(before: readonly Command[], now: readonly Command[]): Command[] {
  const known = new Set(before.map(keyOf));
  return now.filter((command) => !known.has(keyOf(command)));
}

/** A task is known by its id: what it was given never changes. There may be more to do after there was. */
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
    throw new Error(`the task ${id} has the resource ${wait.resource}, which is none`);
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

/** The times that a branch waits for. */
export function duesOf(wait: Waiting): readonly number[] {
  if (wait.for === 'time' || wait.for === 'retry') return [wait.due];
  if (wait.for !== 'task') return [];
  return [wait.due, wait.heartbeatDue].filter((due) => due !== undefined);
}

/** Whether there is something to do that waits for nothing but a call. */
function isReady(wait: Waiting): boolean {
  if (wait.for === 'children')
    return wait.started < wait.total && Object.keys(wait.running).length < wait.limit;
  return wait.for === 'turn' || wait.for === 'result' || wait.for === 'failure';
}
