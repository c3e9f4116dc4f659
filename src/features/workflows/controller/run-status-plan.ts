/** Converts the state of a run in the States Language to its status and back. Pure. */

import { countValues, maxValues } from '../../../apimachinery/value-limit.ts';
import { rfc3339 } from '../../../base/time.ts';
import type { Json } from '../../../states-language/json.ts';
import { pending } from '../../../states-language/run/commands.ts';
import { branchesOf, type Execution, type RunState } from '../../../states-language/run/state.ts';
import type { WorkflowHistoryEntry } from '../api/workflow-history-entry.ts';
import { inputOf, type RunPhase, type WorkflowRun } from '../api/workflow-run.ts';

export type RunStatus = NonNullable<WorkflowRun['status']>;
export type CallMark = NonNullable<RunStatus['calls']>[number];

/** Maximum bytes of JSON of a whole run; etcd accepts requests of 1.5 MiB. */
const maxBytes = 1_300_000;
/**
 * Maximum number of values in an output; the API accepts bodies with 30,000 values, including everything
 * around it.
 */
const maxOutputValues = maxValues - 10_000;
const maxStates = 20;

export const executionOf = ({ metadata, spec }: WorkflowRun): Execution => ({
  id: `${metadata.namespace}/${metadata.name}`,
  name: metadata.name,
  workflow: { id: `${metadata.namespace}/${spec.workflow}`, name: spec.workflow },
});

/** Returns the state; undefined for a run that has not begun, or that has ended without a stored state. */
export function stateOf(run: WorkflowRun): RunState | undefined {
  const text = run.status?.state;
  return text === undefined ? undefined : { ...JSON.parse(text), input: inputOf(run) };
}

/** Returns the state as text without the input, which is in the spec. */
const textOf = ({ input: _, ...state }: RunState): string => JSON.stringify(state);

export interface StatusFacts {
  readonly state: RunState;
  /** Name of the ControllerRevision. */
  readonly definition: string;
  readonly history: readonly WorkflowHistoryEntry[];
  readonly calls: readonly CallMark[];
  /** Current time in milliseconds. */
  readonly now: number;
}

export function statusOf(run: WorkflowRun, facts: StatusFacts): RunStatus {
  const { state, definition, history, calls, now } = facts;
  const tasks = new Set(pending(state).flatMap((one) => (one.type === 'startTask' ? [one.id] : [])));
  const marks = calls.filter(({ id }) => tasks.has(id));
  const hasEnded = state.status !== 'Running';
  const keepsState = !hasEnded || state.stopping.length > 0;
  return {
    phase: state.status,
    startTime: rfc3339(state.started),
    ...(hasEnded && { completionTime: run.status?.completionTime ?? rfc3339(now), ...endOf(state) }),
    definition,
    ...(keepsState && { state: textOf(state) }),
    ...(state.root && { currentStates: statesOf(state.root) }),
    ...(marks.length > 0 && { calls: marks }),
    history: [...history],
    historyCount: state.events,
    conditions: [
      {
        type: 'Started',
        status: 'True',
        reason: 'Started',
        message: 'the run has begun',
        lastTransitionTime: rfc3339(state.started),
      },
    ],
  };
}

interface End {
  readonly phase: RunPhase;
  readonly output?: Json;
  readonly error?: string;
  readonly cause?: string;
}

function endOf({ status, output = null, failure }: RunState): End {
  if (status !== 'Succeeded')
    return { phase: status, error: failure?.error ?? '', cause: failure?.cause ?? '' };
  const values = countValues(output);
  if (values <= maxOutputValues) return { phase: status, output };
  const cause = `the output of the run has ${values} values, and may have ${maxOutputValues}`;
  return { phase: 'Failed', error: 'States.DataLimitExceeded', cause };
}

/** Returns the distinct names of the innermost states. */
function statesOf(root: NonNullable<RunState['root']>): string[] {
  const names = [...branchesOf(root)].filter(({ branch }) => branch.wait.for !== 'children');
  return [...new Set(names.map(({ branch }) => branch.state))].slice(0, maxStates);
}

/** Returns the reason why the run is too large to be stored, or undefined. */
export function excessOfRun(run: WorkflowRun, status: RunStatus): string | undefined {
  const bytes = Buffer.byteLength(JSON.stringify({ ...run, status }));
  return bytes > maxBytes ? `the run has ${bytes} bytes of JSON, and may have ${maxBytes}` : undefined;
}
