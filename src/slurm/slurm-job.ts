/** A SlurmJob as the client sees it: what is to be run on the cluster and how far that is. */

export interface SlurmJob {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly spec: SlurmJobSpec;
  /** Undefined before the client has said anything of it. */
  readonly status: SlurmJobStatus | undefined;
  /** It has a deletion timestamp: the client cancels and cleans up, and then releases it. */
  readonly deleting: boolean;
}

/** What the client reads of the spec. Exactly one of `run`, `script` and `scriptFile` is set. */
export interface SlurmJobSpec {
  /** Shell commands in the work folder on the login host, before anything is submitted. */
  readonly build?: readonly string[] | undefined;
  /** Shell commands of the job itself, one after another; the first that fails ends it. */
  readonly run?: readonly string[] | undefined;
  /** A whole batch script with its #SBATCH lines. */
  readonly script?: string | undefined;
  /** The path of a batch script among the files. */
  readonly scriptFile?: string | undefined;
  readonly partition?: string | undefined;
  readonly account?: string | undefined;
  readonly qos?: string | undefined;
  readonly nodes?: number | undefined;
  readonly tasks?: number | undefined;
  readonly tasksPerNode?: number | undefined;
  readonly cpusPerTask?: number | undefined;
  /** For each node: --gres=gpu:TYPE:N, which every selection plugin of Slurm knows. */
  readonly gpus?: number | undefined;
  readonly gpuType?: string | undefined;
  /** A quantity of bytes for each node. */
  readonly memory?: string | number | undefined;
  /** As sbatch reads it (1:30:00, 2-12, 45), or a whole number of seconds. */
  readonly time?: string | number | undefined;
  /** Task numbers as sbatch reads them: 0-9, 1,3,5-7, 0-15:4, 0-99%2. */
  readonly array?: string | undefined;
  readonly modules?: readonly string[] | undefined;
  readonly environment?: Readonly<Record<string, string>> | undefined;
  /** More options of sbatch, each as one word: --exclusive, --constraint=a100. */
  readonly arguments?: readonly string[] | undefined;
  /** Below this folder of the host each job has one of its own. Default .minik8s/NAMESPACE in the home. */
  readonly workDir?: string | undefined;
  /** Globs below the work folder. */
  readonly results?: readonly string[] | undefined;
  /** A quantity of bytes for all results together. Default 16Mi. */
  readonly resultsLimit?: string | number | undefined;
  /** The work folder stays on the host. */
  readonly keepFiles?: boolean | undefined;
  /** Seconds from `acceptedTime` on after which the job is canceled, however far it is. */
  readonly activeDeadlineSeconds?: number | undefined;
  /** Ends the job: it is canceled if it was submitted. It cannot be taken back. */
  readonly cancel?: boolean | undefined;
}

export const slurmJobPhases = [
  'Waiting',
  'Uploading',
  'Building',
  'Submitted',
  'Running',
  'Fetching',
  'Succeeded',
  'Failed',
  'Canceled',
] as const;
export type SlurmJobPhase = (typeof slurmJobPhases)[number];

/** The last three phases: nothing follows. */
export const isFinished = (status: Pick<SlurmJobStatus, 'phase'> | undefined): boolean =>
  status?.phase === 'Succeeded' || status?.phase === 'Failed' || status?.phase === 'Canceled';

export const slurmJobConditions = [
  /** The host was reached and let the user in. */
  'Connected',
  'Uploaded',
  'Built',
  /** Slurm has taken the job: `jobID` is set. */
  'Submitted',
  'ResultsFetched',
  /** It has succeeded, as in a Job of batch/v1. */
  'Complete',
  /** It has failed or was canceled; the reason says how. */
  'Failed',
] as const;
export type SlurmJobConditionType = (typeof slurmJobConditions)[number];

export interface SlurmJobCondition {
  readonly type: SlurmJobConditionType;
  readonly status: 'True' | 'False' | 'Unknown';
  readonly reason: string;
  readonly message: string;
  /** RFC 3339, seconds. */
  readonly lastTransitionTime: string;
}

/** A file of the host that a SlurmFile holds, or that was left there. Its path is below the work folder. */
export interface FetchedFile {
  readonly path: string;
  readonly size: number;
}

export interface DroppedFile extends FetchedFile {
  readonly reason: string;
}

/** Written whole by the client, and by nobody else. Times are RFC 3339. */
export interface SlurmJobStatus {
  readonly phase: SlurmJobPhase;
  /** When the client first saw it. */
  readonly acceptedTime: string;
  /** As Slurm says: PENDING, RUNNING, COMPLETED, TIMEOUT. */
  readonly state?: string | undefined;
  /** Why it is in that state, as Slurm says: Resources, Priority. */
  readonly reason?: string | undefined;
  readonly jobID?: string | undefined;
  /** The names of its nodes, in Slurm's short form: n[1-4]. */
  readonly nodes?: string | undefined;
  /** The exit status of the batch script, 128 and the signal's number where a signal ended it. */
  readonly exitCode?: number | undefined;
  readonly submitTime?: string | undefined;
  readonly startTime?: string | undefined;
  readonly endTime?: string | undefined;
  /** How many tasks of an array are in each of Slurm's states. */
  readonly arrayTasks?: Readonly<Record<string, number>> | undefined;
  /** The absolute path of its folder on the host. */
  readonly workDir?: string | undefined;
  /** Bytes that the job has written to its standard output and error, of all tasks. */
  readonly outputBytes?: number | undefined;
  readonly errorBytes?: number | undefined;
  /** Results that were fetched. */
  readonly files?: readonly FetchedFile[] | undefined;
  /** Results and output that were not; the work folder is kept then. */
  readonly droppedFiles?: readonly DroppedFile[] | undefined;
  readonly conditions?: readonly SlurmJobCondition[] | undefined;
}
