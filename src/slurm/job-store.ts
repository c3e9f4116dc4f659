/** Where the client finds its jobs and puts what came of them: the cluster, behind an interface. */
import type { SlurmJob, SlurmJobStatus } from './slurm-job.ts';

export const slurmFileKinds = ['Output', 'Error', 'Build', 'Result'] as const;
export type SlurmFileKind = (typeof slurmFileKinds)[number];

/** A file of a job, by what names it. */
export interface FileName {
  readonly kind: SlurmFileKind;
  /**
   * Below the work folder for a Result. Else stdout, stderr and build.log; of an array's tasks stdout-3 and stderr-3.
   */
  readonly path: string;
}

export interface StoredFile extends FileName {
  /** How many bytes of it are stored, from the first one on without a gap. */
  readonly length: number;
}

/** A file that the job needs on the host. */
export interface SourceFile {
  /** Relative, with slashes, without . and .. as a part. */
  readonly path: string;
  readonly data: Uint8Array;
}

export interface JobStore {
  /** The jobs of this connection that are not finished, and those that are being deleted. What the cluster says now. */
  jobs(): readonly SlurmJob[];
  /** Calls `fn` whenever `jobs()` may have changed, until the function returned is called. */
  onChange(fn: () => void): () => void;
  /**
   * Replaces the status; resolves when the cluster has it, and when the job is gone meanwhile. `jobs()` may be behind.
   * Rejects when the cluster cannot be reached; the client tries again.
   */
  writeStatus(job: SlurmJob, status: SlurmJobStatus): Promise<void>;
  /** Every file of `spec.files` and `spec.filesFrom`. Rejects with MissingSource when a ConfigMap or key is not there. */
  readFiles(job: SlurmJob): Promise<readonly SourceFile[]>;
  /** What is stored of the job's files. */
  storedFiles(job: SlurmJob): Promise<readonly StoredFile[]>;
  /**
   * Adds bytes (at most `mostChunk`) to a file, which has `offset` bytes. Doing it twice is doing it once: resolves without
   * a change when there is something at that offset already, or when the job is gone.
   */
  appendFile(job: SlurmJob, file: FileName, offset: number, bytes: Uint8Array): Promise<void>;
  /** Takes the finalizer away from a job that is being deleted. */
  release(job: SlurmJob): Promise<void>;
}

/** Bytes of one SlurmFile. */
export const mostChunk = 512 * 1024;

/** The message names what is missing. */
export class MissingSource extends Error {
  override readonly name = 'MissingSource';
}
