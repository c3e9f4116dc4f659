/** A SlurmJob as the client uses it: its spec and its progress. */

export interface SlurmJob {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly spec: SlurmJobSpec;
  /** Undefined before the client has written a status. */
  readonly status: SlurmJobStatus | undefined;
  /** True if the job has a deletion timestamp: the client cancels, cleans up, and then releases it. */
  readonly deleting: boolean;
}

/** Fields of the spec that the client uses. Exactly one of `run`, `script` and `scriptFile` is set. */
export interface SlurmJobSpec {
  /** Shell commands that are run in the work folder on the login host before the submission. */
  readonly build?: readonly string[] | undefined;
  /** Shell commands of the job itself, run in order; the first failure ends the job. */
  readonly run?: readonly string[] | undefined;
  /** A complete batch script with its #SBATCH lines. */
  readonly script?: string | undefined;
  /** Path of a batch script among the files. */
  readonly scriptFile?: string | undefined;
  readonly partition?: string | undefined;
  readonly account?: string | undefined;
  readonly qos?: string | undefined;
  readonly nodes?: number | undefined;
  readonly tasks?: number | undefined;
  readonly tasksPerNode?: number | undefined;
  readonly cpusPerTask?: number | undefined;
  /** GPUs per node: --gres=gpu:TYPE:N, which every selection plugin of Slurm supports. */
  readonly gpus?: number | undefined;
  readonly gpuType?: string | undefined;
  /** Memory per node, as a quantity of bytes. */
  readonly memory?: string | number | undefined;
  /** Time limit as sbatch reads it (1:30:00, 2-12, 45), or an integer number of seconds. */
  readonly time?: string | number | undefined;
  /** Task numbers as sbatch reads them: 0-9, 1,3,5-7, 0-15:4, 0-99%2. */
  readonly array?: string | undefined;
  readonly modules?: readonly string[] | undefined;
  readonly environment?: Readonly<Record<string, string>> | undefined;
  /** Further options of sbatch, each as one word: --exclusive, --constraint=a100. */
  readonly arguments?: readonly string[] | undefined;
  /**
   * Folder on the host in which each job gets a folder of its own. Default .minik8s/NAMESPACE in the home
   * folder.
   */
  readonly workDir?: string | undefined;
  /** Globs below the work folder. */
  readonly results?: readonly string[] | undefined;
  /** Maximum size of all results together, as a quantity of bytes. Default 16Mi. */
  readonly resultsLimit?: string | number | undefined;
  /** Keeps the work folder on the host. */
  readonly keepFiles?: boolean | undefined;
  /** Seconds after `acceptedTime` after which the job is canceled, whatever its progress. */
  readonly activeDeadlineSeconds?: number | undefined;
  /** Ends the job; it is canceled if it was submitted. This cannot be undone. */
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

/** Returns true for the last three phases, which are final. */
export const isFinished = (status: Pick<SlurmJobStatus, 'phase'> | undefined): boolean =>
  status?.phase === 'Succeeded' || status?.phase === 'Failed' || status?.phase === 'Canceled';

export const slurmJobConditions = [
  /** The host is reachable and has authenticated the user. */
  'Connected',
  'Uploaded',
  'Built',
  /** Slurm has accepted the job: `jobID` is set. */
  'Submitted',
  'ResultsFetched',
  /** The job has succeeded, as in a Job of batch/v1. */
  'Complete',
  /** The job has failed or was canceled, as the reason states. */
  'Failed',
] as const;
export type SlurmJobConditionType = (typeof slurmJobConditions)[number];

export interface SlurmJobCondition {
  readonly type: SlurmJobConditionType;
  readonly status: 'True' | 'False' | 'Unknown';
  readonly reason: string;
  readonly message: string;
  /** Time in RFC 3339, in seconds. */
  readonly lastTransitionTime: string;
}

/** A file of the host that is stored in a SlurmFile or was left there. Its path is below the work folder. */
export interface FetchedFile {
  readonly path: string;
  readonly size: number;
}

export interface DroppedFile extends FetchedFile {
  readonly reason: string;
}

/** Status, written completely by the client and by no other writer. Times are in RFC 3339. */
export interface SlurmJobStatus {
  readonly phase: SlurmJobPhase;
  /** Time at which the client first saw the job. */
  readonly acceptedTime: string;
  /** State reported by Slurm: PENDING, RUNNING, COMPLETED, TIMEOUT. */
  readonly state?: string | undefined;
  /** Reason of the state reported by Slurm: Resources, Priority. */
  readonly reason?: string | undefined;
  readonly jobID?: string | undefined;
  /** Names of the nodes in Slurm's short form: n[1-4]. */
  readonly nodes?: string | undefined;
  /** Exit status of the batch script; 128 plus the number of the signal if a signal ended it. */
  readonly exitCode?: number | undefined;
  readonly submitTime?: string | undefined;
  readonly startTime?: string | undefined;
  readonly endTime?: string | undefined;
  /** Number of tasks of an array in each of Slurm's states. */
  readonly arrayTasks?: Readonly<Record<string, number>> | undefined;
  /** Absolute path of the job's folder on the host. */
  readonly workDir?: string | undefined;
  /** Bytes that all tasks of the job have written to standard output and error. */
  readonly outputBytes?: number | undefined;
  readonly errorBytes?: number | undefined;
  /** Fetched results. */
  readonly files?: readonly FetchedFile[] | undefined;
  /** Results and output that were not fetched; the work folder is kept in that case. */
  readonly droppedFiles?: readonly DroppedFile[] | undefined;
  readonly conditions?: readonly SlurmJobCondition[] | undefined;
}
