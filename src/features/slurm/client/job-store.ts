/**
 * Storage from which the client reads its jobs and to which it writes their results: an interface to the
 * cluster.
 */
import type { SlurmFile } from '../api/slurm-file.ts';
import type { SlurmJob, SlurmJobStatus } from './slurm-job.ts';

export type SlurmFileKind = SlurmFile['spec']['kind'];

/** Name of a file of a job. */
export interface FileName {
  readonly kind: SlurmFileKind;
  /**
   * Path below the work folder for a Result. Otherwise stdout, stderr or build.log; for tasks of an array
   * stdout-3 and stderr-3.
   */
  readonly path: string;
}

export interface StoredFile extends FileName {
  /** Number of stored bytes, from the first one on without a gap. */
  readonly length: number;
}

/** A file that the job needs on the host. */
export interface SourceFile {
  /** Relative path with slashes, without `.` and `..` segments. */
  readonly path: string;
  readonly data: Uint8Array;
}

export interface JobStore {
  /** Returns the current jobs of this connection that are not finished or are being deleted. */
  jobs(): readonly SlurmJob[];
  /** Calls `fn` whenever `jobs()` may have changed, until the returned function is called. */
  onChange(fn: () => void): () => void;
  /**
   * Replaces the status. Resolves when the cluster has it, or if the job was deleted in the meantime.
   * `jobs()` may be behind. Rejects if the cluster is unreachable; the client retries.
   */
  writeStatus(job: SlurmJob, status: SlurmJobStatus): Promise<void>;
  /**
   * Returns every file of `spec.files` and `spec.filesFrom`. Rejects with MissingSource if a ConfigMap or key
   * is missing.
   */
  readFiles(job: SlurmJob): Promise<readonly SourceFile[]>;
  /** Returns the stored files of the job. */
  storedFiles(job: SlurmJob): Promise<readonly StoredFile[]>;
  /**
   * Appends bytes (at most `maxSlurmChunk`) to a file, which has `offset` bytes. The operation is
   * idempotent: it resolves without a change if there are bytes at that offset already, or if the job was
   * deleted.
   */
  appendFile(job: SlurmJob, file: FileName, offset: number, bytes: Uint8Array): Promise<void>;
  /** Removes the finalizer from a job that is being deleted. */
  release(job: SlurmJob): Promise<void>;
}

/** A source is missing; the message names it. */
export class MissingSource extends Error {
  override readonly name = 'MissingSource';
}
