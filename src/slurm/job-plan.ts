/** What is next for a job, and what its status becomes: from data to data. */
import { rfc3339 } from '../base/time.ts';
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
  /** Nothing to do but to see how it goes on. */
  | 'follow'
  | 'cancel'
  | 'fetch'
  | 'cleanUp'
  /** It is being deleted: cancel, clean up, release. */
  | 'discard'
  | 'none';

export const stopReasons = ['Canceled', 'DeadlineExceeded'] as const;
export type StopReason = (typeof stopReasons)[number];

export function nextStep(job: SlurmJob, status: SlurmJobStatus, now: number): Step {
  if (job.deleting) return 'discard';
  if (isFinished(status)) return 'none';
  // Unknown: the fetch did not work and is tried again.
  if (status.phase === 'Fetching')
    return (conditionOf(status, 'ResultsFetched')?.status ?? 'Unknown') === 'Unknown' ? 'fetch' : 'cleanUp';
  // Canceled already: Slurm has the last word on how it ended.
  const stopping = conditionOf(status, 'Failed') !== undefined;
  if (!stopping && stopReason(job, status, now) !== undefined) return 'cancel';
  if (status.workDir === undefined) return 'prepare';
  if (status.jobID !== undefined) return 'follow';
  if (conditionOf(status, 'Uploaded')?.status !== 'True') return 'upload';
  if ((job.spec.build ?? []).length > 0 && conditionOf(status, 'Built')?.status !== 'True') return 'build';
  return 'submit';
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

/** Characters of a message: hosts say a part of it. */
const longestMessage = 8192;

/** The time of a condition moves with its status; what would change nothing leaves the status as it is. */
export function withCondition(status: SlurmJobStatus, said: NewCondition, now: number): SlurmJobStatus {
  const condition = { ...said, message: said.message.slice(0, longestMessage) };
  const before = conditionOf(status, condition.type);
  if (
    before &&
    before.status === condition.status &&
    before.reason === condition.reason &&
    before.message === condition.message
  )
    return status;
  const lastTransitionTime = before?.status === condition.status ? before.lastTransitionTime : rfc3339(now);
  const others = status.conditions?.filter(({ type }) => type !== condition.type) ?? [];
  return { ...status, conditions: [...others, { ...condition, lastTransitionTime }] };
}

/** How a job ended, or what kept it from running. Its files are still fetched then. */
export interface Verdict {
  readonly type: 'Complete' | 'Failed';
  readonly reason: string;
  readonly message: string;
}

/** The condition is Unknown until the files are there: whoever waits for Complete finds them. */
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

/** After the files were fetched and the work folder is gone. */
export function finished(status: SlurmJobStatus, now: number): SlurmJobStatus {
  const failed = conditionOf(status, 'Failed');
  const verdict = failed ?? conditionOf(status, 'Complete');
  if (verdict === undefined) return status;
  const { type, reason, message } = verdict;
  const canceled = reason === 'Canceled' || reason === 'CANCELLED';
  const phase = failed === undefined ? 'Succeeded' : canceled ? 'Canceled' : 'Failed';
  return { ...withCondition(status, { type, status: 'True', reason, message }, now), phase };
}

/** What is known of a job that Slurm has. */
export interface Observed {
  /** From the queue and from accounting, whichever knew. Empty where neither did. */
  readonly tasks: readonly SlurmTask[];
  readonly looked: Looked;
  /** Slurm has answered that it does not know the job, and went on doing so. */
  readonly forgotten: boolean;
}

/** The status with what was observed in it; `verdict` when every task is at its end. */
export function observedStatus(
  job: SlurmJob,
  status: SlurmJobStatus,
  { tasks, looked, forgotten }: Observed,
): { readonly status: SlurmJobStatus; readonly verdict: Verdict | undefined } {
  const byNumber = tasksByNumber(tasks);
  const numbers = arrayTasks(job.spec.array) ?? ['-' as const];
  const states = numbers.map((number) => taskState(number, byNumber, looked, forgotten));
  const counts: Record<string, number> = {};
  for (const { state } of states) counts[state] = (counts[state] ?? 0) + 1;
  const state = overall(Object.keys(counts)) ?? status.state;
  const known = tasks.find((task) => task.state === state) ?? tasks[0];
  const over = states.every((each) => isOver(each.state));
  const codes = states.flatMap(({ exitCode }) => (exitCode === undefined ? [] : [exitCode]));
  const sum = (prefix: string) =>
    [...looked.sizes].reduce(
      (total, [name, size]) =>
        name.startsWith(prefix) ? Math.min(total + size, Number.MAX_SAFE_INTEGER) : total,
      0,
    );
  const [submitTime, startTime, endTime] = [
    earliest(tasks.map((task) => task.submitTime)),
    earliest(tasks.filter((task) => task.state !== 'PENDING').map((task) => task.startTime)),
    over ? latest(tasks.map((task) => task.endTime)) : undefined,
  ];
  const next: SlurmJobStatus = {
    ...status,
    phase: over || startTime === undefined ? status.phase : 'Running',
    state,
    reason: known?.reason || undefined,
    nodes: known?.nodes || status.nodes,
    exitCode: over && codes.length > 0 ? Math.max(...codes) : status.exitCode,
    submitTime: submitTime ?? status.submitTime,
    startTime: startTime ?? status.startTime,
    endTime: endTime ?? status.endTime,
    arrayTasks: job.spec.array === undefined ? undefined : counts,
    outputBytes: Math.max(status.outputBytes ?? 0, sum('stdout')),
    errorBytes: Math.max(status.errorBytes ?? 0, sum('stderr')),
  };
  return { status: next, verdict: over ? verdictOf(next, counts) : undefined };
}

/**
 * Whether Slurm reports the end of every task and not every exit status: the queue has none. The exit statuses that the batch
 * script left are then to be read after Slurm's answer, since those read before it may lack some.
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
 * The exit status of a job whose results are fetched: the one in its status, and where files of its folder say more, the
 * highest of all tasks, as in observedStatus.
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

/** By the number of the task, `-` for a job that is no array. Of several lines for a task, one that reports its end goes first. */
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

/** Of several tasks, the state of the one that has furthest to go. */
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
      message: 'Slurm does not know the job any more, and it left no word of its end',
    };
  const several =
    Object.keys(counts).length > 1
      ? ` (${Object.entries(counts)
          .map(([name, count]) => `${count} ${name}`)
          .join(', ')})`
      : '';
  const status = exitCode === undefined ? '' : `, exit status ${exitCode}`;
  return { type: 'Failed', reason: state, message: `Slurm says ${state}${status}${several}` };
}

const times = (list: readonly (string | undefined)[]) => list.filter((time) => time !== undefined).sort();
const earliest = (list: readonly (string | undefined)[]) => times(list)[0];
const latest = (list: readonly (string | undefined)[]) => times(list).at(-1);
