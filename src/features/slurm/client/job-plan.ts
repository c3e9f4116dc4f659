/** Plans the next step of a job and its status. Pure. */
import { transitionTime } from '../../../apimachinery/conditions.ts';
import { rfc3339 } from '../../../base/time.ts';
import { arrayTasks } from './batch-script.ts';
import { isOver, type Looked, type SlurmTask } from './host-answers.ts';
import {
  isFinished,
  type SlurmJob,
  type SlurmJobCondition,
  type SlurmJobConditionType,
  type SlurmJobSpec,
  type SlurmJobStatus,
} from './slurm-job.ts';

export type Step =
  | 'prepare'
  | 'upload'
  | 'build'
  | 'submit'
  /** The job is followed until it ends. */
  | 'follow'
  | 'cancel'
  | 'fetch'
  | 'cleanUp'
  /** The job is being deleted: cancel, clean up, release. */
  | 'discard'
  | 'none';

export const stopReasons = ['Canceled', 'DeadlineExceeded'] as const;
export type StopReason = (typeof stopReasons)[number];

export function nextStep(job: SlurmJob, status: SlurmJobStatus, now: number): Step {
  if (job.deleting) return 'discard';
  if (isFinished(status)) return 'none';
  // The files are fetched until the condition states whether they were fetched; it is Unknown after a failed
  // fetch.
  if (status.phase === 'Fetching')
    return (conditionOf(status, 'ResultsFetched')?.status ?? 'Unknown') === 'Unknown' ? 'fetch' : 'cleanUp';
  // The job was cancelled already; Slurm reports how it ended.
  const stopping = conditionOf(status, 'Failed') !== undefined;
  if (!stopping && stopReason(job, status, now) !== undefined) return 'cancel';
  if (status.workDir === undefined) return 'prepare';
  return status.jobID === undefined ? stepToSubmit(job, status) : 'follow';
}

function stepToSubmit({ spec }: SlurmJob, status: SlurmJobStatus): Step {
  const isTrue = (type: 'Uploaded' | 'Built') => conditionOf(status, type)?.status === 'True';
  if (!isTrue('Uploaded')) return 'upload';
  return (spec.build ?? []).length > 0 && !isTrue('Built') ? 'build' : 'submit';
}

export function stopReason(
  { spec }: SlurmJob,
  { acceptedTime }: SlurmJobStatus,
  now: number,
): StopReason | undefined {
  if (spec.cancel === true) return 'Canceled';
  const { activeDeadlineSeconds: seconds } = spec;
  return seconds !== undefined && now >= Date.parse(acceptedTime) + seconds * 1000
    ? 'DeadlineExceeded'
    : undefined;
}

export const conditionOf = (
  { conditions }: Pick<SlurmJobStatus, 'conditions'>,
  type: SlurmJobConditionType,
): SlurmJobCondition | undefined => conditions?.find((condition) => condition.type === type);

export type NewCondition = Omit<SlurmJobCondition, 'lastTransitionTime'>;

/** Maximum characters of a message, which may contain output of the host. */
const maxMessageLength = 8192;

/**
 * Returns the status with the condition. The transition time changes only with the condition's status. An
 * unchanged condition leaves the status as it is.
 */
export function withCondition(status: SlurmJobStatus, added: NewCondition, now: number): SlurmJobStatus {
  const condition = { ...added, message: added.message.slice(0, maxMessageLength) };
  const before = conditionOf(status, condition.type);
  if (
    before &&
    before.status === condition.status &&
    before.reason === condition.reason &&
    before.message === condition.message
  )
    return status;
  const lastTransitionTime = transitionTime(before, condition.status, rfc3339(now));
  const others = status.conditions?.filter(({ type }) => type !== condition.type) ?? [];
  return { ...status, conditions: [...others, { ...condition, lastTransitionTime }] };
}

/** End of a job, or the reason why it did not run. Its files are fetched in both cases. */
export interface Verdict {
  readonly type: 'Complete' | 'Failed';
  readonly reason: string;
  readonly message: string;
}

/**
 * Returns the status after the end of the job. The condition is Unknown until the files are stored, so that
 * clients that wait for Complete find them.
 */
export const ended = (
  status: SlurmJobStatus,
  { type, reason, message }: Verdict,
  now: number,
): SlurmJobStatus => ({
  ...withCondition(withoutVerdict(status), { type, status: 'Unknown', reason, message }, now),
  phase: 'Fetching',
});

const withoutVerdict = (status: SlurmJobStatus): SlurmJobStatus => ({
  ...status,
  conditions: status.conditions?.filter(({ type }) => type !== 'Failed' && type !== 'Complete'),
});

/** Returns the final status, after the files were fetched and the work folder was removed. */
export function finished(status: SlurmJobStatus, now: number): SlurmJobStatus {
  const failed = conditionOf(status, 'Failed');
  const verdict = failed ?? conditionOf(status, 'Complete');
  if (verdict === undefined) return status;
  const { type, reason, message } = verdict;
  const canceled = reason === 'Canceled' || reason === 'CANCELLED';
  const phase = failed === undefined ? 'Succeeded' : canceled ? 'Canceled' : 'Failed';
  return { ...withCondition(status, { type, status: 'True', reason, message }, now), phase };
}

/** Observations of a submitted job. */
export interface Observed {
  /** Tasks from the queue and from accounting; empty if the job is in neither. */
  readonly tasks: readonly SlurmTask[];
  readonly looked: Looked;
  /** True if Slurm has not known the job for too long. */
  readonly forgotten: boolean;
}

/** Returns the status with the observations, and the `verdict` if every task has ended. */
export function observedStatus(
  job: SlurmJob,
  status: SlurmJobStatus,
  { tasks, looked, forgotten }: Observed,
): { readonly status: SlurmJobStatus; readonly verdict: Verdict | undefined } {
  const byNumber = tasksByNumber(tasks);
  const numbers = arrayTasks(job.spec.array) ?? ['-' as const];
  const states = numbers.map((number) => taskState(number, byNumber, looked, forgotten));
  const counts = countsOf(states.map((each) => each.state));
  const state = overall(Object.keys(counts)) ?? status.state;
  const known = tasks.find((task) => task.state === state) ?? tasks[0];
  const over = states.every((each) => isOver(each.state));
  const times = timesOf(tasks, over);
  const next: SlurmJobStatus = {
    ...status,
    ...times,
    ...outputSizes(status, looked),
    ...(known?.nodes && { nodes: known.nodes }),
    ...(over && exitOf(states)),
    phase: over || times.startTime === undefined ? status.phase : 'Running',
    state,
    reason: known?.reason || undefined,
    arrayTasks: job.spec.array === undefined ? undefined : counts,
  };
  return { status: next, verdict: over ? verdictOf(next, counts) : undefined };
}

const outputSizes = ({ outputBytes = 0, errorBytes = 0 }: SlurmJobStatus, looked: Observed['looked']) => ({
  outputBytes: Math.max(outputBytes, sizeOf(looked, 'stdout')),
  errorBytes: Math.max(errorBytes, sizeOf(looked, 'stderr')),
});

/** Returns the known times. The estimated start of a waiting task is not used. */
function timesOf(tasks: Observed['tasks'], over: boolean) {
  const submitTime = earliest(tasks.map((task) => task.submitTime));
  const startTime = earliest(tasks.filter((task) => task.state !== 'PENDING').map((task) => task.startTime));
  const endTime = over ? latest(tasks.map((task) => task.endTime)) : undefined;
  return {
    ...(submitTime !== undefined && { submitTime }),
    ...(startTime !== undefined && { startTime }),
    ...(endTime !== undefined && { endTime }),
  };
}

function countsOf(states: readonly string[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const state of states) counts[state] = (counts[state] ?? 0) + 1;
  return counts;
}

/** Returns the highest exit code, if any is known. */
function exitOf(states: readonly { readonly exitCode: number | undefined }[]) {
  const codes = states.flatMap(({ exitCode }) => exitCode ?? []);
  return codes.length > 0 ? { exitCode: Math.max(...codes) } : {};
}

/** Returns the bytes of all output files of one kind. */
const sizeOf = ({ sizes }: Looked, prefix: 'stdout' | 'stderr') =>
  [...sizes]
    .filter(([name]) => name.startsWith(prefix))
    .reduce((total, [, size]) => Math.min(total + size, Number.MAX_SAFE_INTEGER), 0);

/**
 * Returns true if Slurm reports the end of every task but not every exit status, because the queue has none.
 * The exit statuses that the batch script left must then be read after Slurm's answer, since an earlier read
 * may lack some.
 */
export function lacksExitStatus(spec: SlurmJobSpec, tasks: readonly SlurmTask[]): boolean {
  const byNumber = tasksByNumber(tasks);
  const all = (arrayTasks(spec.array) ?? ['-' as const]).map((number) => byNumber.get(number));
  return (
    all.every((task) => task !== undefined && isOver(task.state)) &&
    all.some((task) => task?.exitCode === undefined)
  );
}

/**
 * Returns the exit status of a job whose results are fetched: the one in its status or, if the files of its
 * folder have more, the highest of all tasks, as in observedStatus.
 */
export function lastExitCode(spec: SlurmJobSpec, status: SlurmJobStatus, looked: Looked): number | undefined {
  if (spec.array === undefined) return status.exitCode ?? looked.exited.get('-');
  const codes = [status.exitCode ?? [], ...looked.exited.values()].flat();
  return codes.length > 0 ? Math.max(...codes) : undefined;
}

interface TaskState {
  readonly state: string;
  readonly exitCode: number | undefined;
}

/**
 * Returns the tasks by number, `-` for a job without an array. If a task has several lines, a line that
 * reports its end takes precedence.
 */
function tasksByNumber(tasks: readonly SlurmTask[]): ReadonlyMap<number | '-', SlurmTask> {
  const found = new Map<number | '-', SlurmTask>();
  for (const task of tasks)
    for (const number of [...(task.tasks ?? []), '-' as const]) {
      const before = found.get(number);
      if (!before || (isOver(task.state) && !isOver(before.state))) found.set(number, task);
    }
  return found;
}

function taskState(
  number: number | '-',
  tasks: ReadonlyMap<number | '-', SlurmTask>,
  looked: Looked,
  forgotten: boolean,
): TaskState {
  const task = tasks.get(number);
  const exitCode = task?.exitCode ?? looked.exited.get(String(number));
  if (task) return { state: task.state, exitCode };
  if (!forgotten) return { state: 'UNKNOWN', exitCode };
  if (exitCode === undefined) return { state: 'REVOKED', exitCode };
  return { state: exitCode === 0 ? 'COMPLETED' : 'FAILED', exitCode };
}

/**
 * Returns the state of several tasks: RUNNING if a task is running, otherwise the state of a task that has
 * not ended, otherwise a state other than COMPLETED if there is one.
 */
function overall(states: readonly string[]): string | undefined {
  const known = states.filter((state) => state !== 'UNKNOWN');
  const open = known.filter((state) => !isOver(state));
  if (open.length > 0) return open.find((state) => state === 'RUNNING') ?? open[0];
  return known.find((state) => state !== 'COMPLETED') ?? known[0];
}

function verdictOf(
  { state = '', exitCode, conditions }: SlurmJobStatus,
  counts: Readonly<Record<string, number>>,
): Verdict {
  const stopped = conditionOf({ conditions }, 'Failed');
  if (state === 'COMPLETED')
    return { type: 'Complete', reason: 'Completed', message: 'the job has ended with status 0' };
  if (stopped) return { type: 'Failed', reason: stopped.reason, message: 'the job was canceled' };
  if (state === 'REVOKED')
    return {
      type: 'Failed',
      reason: 'JobLost',
      message: 'Slurm no longer lists the job, and the job left no exit status',
    };
  const several =
    Object.keys(counts).length > 1
      ? ` (${Object.entries(counts)
          .map(([name, count]) => `${count} ${name}`)
          .join(', ')})`
      : '';
  const status = exitCode === undefined ? '' : `, exit status ${exitCode}`;
  return { type: 'Failed', reason: state, message: `Slurm reports ${state}${status}${several}` };
}

const times = (list: readonly (string | undefined)[]) => list.filter((time) => time !== undefined).sort();
const earliest = (list: readonly (string | undefined)[]) => times(list)[0];
const latest = (list: readonly (string | undefined)[]) => times(list).at(-1);
