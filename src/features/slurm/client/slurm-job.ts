/** A SlurmJob as the client uses it: its spec and its progress, with the fields of the kind. */
import { type SlurmJob as StoredJob, slurmJobEnded, type slurmPhases } from '../api/slurm-job.ts';
import type {
  SlurmJobStatusConditions,
  SlurmJobStatusDroppedFiles,
  SlurmJobStatusFiles,
} from '../api/types.gen.ts';

type ReadonlyDeep<T> = T extends (infer Item)[]
  ? readonly ReadonlyDeep<Item>[]
  : T extends object
    ? { readonly [Key in keyof T]: ReadonlyDeep<T[Key]> }
    : T;

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

type UsedSpec = Omit<StoredJob['spec'], 'connection' | 'files' | 'filesFrom' | 'ttlSecondsAfterFinished'>;

/** Fields of the spec that the client uses. Exactly one of `run`, `script` and `scriptFile` is set. */
export type SlurmJobSpec = { readonly [Key in keyof UsedSpec]?: ReadonlyDeep<UsedSpec[Key]> | undefined };

export type SlurmJobPhase = (typeof slurmPhases)[number];

/** Returns true for the last three phases, which are final. */
export const isFinished = (status: { readonly phase: SlurmJobPhase } | undefined): boolean =>
  slurmJobEnded({ status });

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

/** A condition with everything that the client writes; the time is in RFC 3339, in seconds. */
export interface SlurmJobCondition
  extends Readonly<Pick<SlurmJobStatusConditions, 'status'>>,
    Readonly<Record<'reason' | 'message' | 'lastTransitionTime', string>> {
  readonly type: SlurmJobConditionType;
}

/** A file of the host that is stored in a SlurmFile or was left there. Its path is below the work folder. */
export type FetchedFile = Readonly<SlurmJobStatusFiles>;

export type DroppedFile = Readonly<SlurmJobStatusDroppedFiles>;

type WrittenStatus = NonNullable<StoredJob['status']>;

/** Status, written completely by the client and by no other writer. Times are in RFC 3339. */
export interface SlurmJobStatus
  extends ReadonlyDeep<Omit<WrittenStatus, 'phase' | 'acceptedTime' | 'conditions'>> {
  readonly phase: SlurmJobPhase;
  /** Time at which the client first saw the job. */
  readonly acceptedTime: string;
  readonly conditions?: readonly SlurmJobCondition[] | undefined;
}
