/** Executes the steps of the plan. Each step can be repeated after an interruption at any point. */
import type { Clock } from '../../../base/clock.ts';
import { errorMessage } from '../../../base/log.ts';
import { UnusableSpec } from './batch-script.ts';
import { isForNow } from './host-answers.ts';
import {
  buildingScript,
  cancelScript,
  folderGone,
  foldersScript,
  prepareScript,
  removeScript,
  submitScript,
  tryAgain,
} from './host-scripts.ts';
import type { JobEntry } from './job-entry.ts';
import type { JobFiles } from './job-files.ts';
import {
  conditionOf,
  ended,
  finished,
  lastExitCode,
  type NewCondition,
  observedStatus,
  type Step,
  stopReason,
  type Verdict,
  withCondition,
} from './job-plan.ts';
import { type JobStore, MissingSource, type SourceFile } from './job-store.ts';
import type { LaneName, LoginHost } from './login-host.ts';
import {
  isFinished,
  type SlurmJobConditionType,
  type SlurmJobPhase,
  type SlurmJobStatus,
} from './slurm-job.ts';
import { ConnectionError } from './ssh.ts';
import { NotNow, NotWritten } from './step-problem.ts';
import { filesToUpload, foldersOf, isProgram, requireBelow } from './uploaded-files.ts';

/** Maximum bytes of a path (PATH_MAX). */
const maxPathLength = 4096;
class FolderGone extends Error {
  override readonly name = 'FolderGone';
}

export interface JobStepsOptions {
  readonly host: LoginHost;
  readonly store: JobStore;
  readonly files: JobFiles;
  readonly clock: Clock;
  /** Seconds between an attempt to submit without an answer and the next attempt. */
  readonly settleSeconds: number;
}

export class JobSteps {
  readonly #options: JobStepsOptions;
  readonly #steps: Readonly<Record<Step, (entry: JobEntry) => Promise<boolean>>> = {
    prepare: (entry) => this.#prepare(entry),
    upload: (entry) => this.#upload(entry),
    build: (entry) => this.#build(entry),
    submit: (entry) => this.#submit(entry),
    follow: (entry) => this.#follow(entry),
    cancel: (entry) => this.#cancel(entry),
    fetch: (entry) => this.#fetch(entry),
    cleanUp: (entry) => this.#cleanUp(entry),
    discard: (entry) => this.#discard(entry),
    none: async () => false,
  };

  constructor(options: JobStepsOptions) {
    this.#options = options;
  }

  /** Executes a step. Returns true if another step may follow at once. */
  async take(step: Step, entry: JobEntry): Promise<boolean> {
    try {
      return await this.#steps[step](entry);
    } catch (error) {
      if (error instanceof UnusableSpec) {
        await this.#end(entry, { type: 'Failed', reason: 'InvalidSpec', message: error.message });
        return true;
      }
      if (!(error instanceof FolderGone)) throw error;
      // Nothing was submitted from the folder, so it is created again.
      const message = 'the work folder does not exist any more; it is recreated';
      await this.write(entry, {
        ...this.#with(entry, { type: 'Uploaded', status: 'False', reason: 'WorkFolderGone', message }),
        workDir: undefined,
      });
      return true;
    }
  }

  /** Ends a running build of a job that is to be stopped. */
  async interrupt({ job, status }: JobEntry): Promise<void> {
    await this.#options.host.run('ask', cancelScript(job, status.jobID));
  }

  /**
   * Writes a status. It must be derived from the entry's current status, so that concurrent writers lose
   * nothing.
   */
  write(entry: JobEntry, status: SlurmJobStatus): Promise<void> {
    entry.status = status;
    return this.flush(entry);
  }

  /** Resolves when the cluster has the entry's status. */
  flush(entry: JobEntry): Promise<void> {
    const writing = entry.writing
      .catch(() => undefined)
      .then(async () => {
        const { status } = entry;
        if (status === entry.written) return;
        await this.#options.store.writeStatus(entry.job, status).catch((error: unknown) => {
          throw new NotWritten(errorMessage(error), { cause: error });
        });
        entry.written = status;
      });
    entry.writing = writing;
    return writing;
  }

  async #prepare(entry: JobEntry): Promise<boolean> {
    const folder = (await this.#run('ask', prepareScript(entry.job), 'Uploaded'))
      .split('\n')
      .findLast((line) => line.startsWith('/') && line.length <= maxPathLength);
    if (folder === undefined)
      throw new NotNow('Uploaded', 'WorkFolderFailed', 'the host did not print the path of the work folder');
    await this.write(entry, { ...entry.status, phase: 'Uploading', workDir: folder });
    return true;
  }

  async #upload(entry: JobEntry): Promise<boolean> {
    const { host } = this.#options;
    const { job, status } = entry;
    const folder = status.workDir ?? '';
    const files = await this.#sources(entry);
    const all = filesToUpload(job, files);
    await this.#run('ask', foldersScript(folder, foldersOf(all)), 'Uploaded');
    for (const { path, data } of all) {
      const written = host.write(`${folder}/${path}`, data, isProgram(data) ? 0o700 : 0o600);
      await written.catch((error: unknown) => {
        if (error instanceof ConnectionError) throw error;
        throw new NotNow(
          'Uploaded',
          'UploadFailed',
          `cannot write ${folder}/${path}: ${errorMessage(error)}`,
        );
      });
    }
    const message = `${files.length} files are in ${folder}`;
    const phase: SlurmJobPhase = (job.spec.build ?? []).length > 0 ? 'Building' : 'Uploading';
    await this.write(entry, {
      ...this.#with(entry, { type: 'Uploaded', status: 'True', reason: 'Uploaded', message }),
      phase,
    });
    return true;
  }

  async #sources(entry: JobEntry): Promise<readonly SourceFile[]> {
    try {
      const files = await this.#options.store.readFiles(entry.job);
      for (const { path } of files) requireBelow(path);
      return files;
    } catch (error) {
      if (error instanceof MissingSource) throw new NotNow('Uploaded', 'MissingSource', error.message);
      throw error;
    }
  }

  async #build(entry: JobEntry): Promise<boolean> {
    const answer = await this.#run('build', buildingScript(entry.status.workDir ?? ''), 'Built');
    const [code = '', ...output] = answer.split('\n');
    if (code.trim() === '0') {
      await this.write(
        entry,
        this.#with(entry, {
          type: 'Built',
          status: 'True',
          reason: 'Built',
          message: 'the build has succeeded',
        }),
      );
      return true;
    }
    const message = `the build has failed with status ${code.trim()}: ${output.join('\n').trim()}`;
    await this.#end(
      entry,
      { type: 'Failed', reason: 'BuildFailed', message },
      { type: 'Built', status: 'False', reason: 'BuildFailed', message },
    );
    return true;
  }

  async #submit(entry: JobEntry): Promise<boolean> {
    const { settleSeconds } = this.#options;
    const answer = await this.#run(
      'submit',
      submitScript(entry.job, entry.status.workDir ?? '', settleSeconds),
      'Submitted',
    );
    const [first = '', ...rest] = answer.split('\n');
    const jobID = /^id (\d{1,20})$/.exec(first)?.[1];
    if (jobID !== undefined) {
      const message = `Slurm has accepted it as job ${jobID}`;
      const status = this.#with(entry, { type: 'Submitted', status: 'True', reason: 'Submitted', message });
      await this.write(entry, { ...status, phase: 'Submitted', jobID, state: 'PENDING' });
      return true;
    }
    if (first === 'canceled') {
      await this.#end(entry, {
        type: 'Failed',
        reason: 'Canceled',
        message: 'it was canceled before it was submitted',
      });
      return true;
    }
    if (first === 'unsettled')
      throw new NotNow(
        'Submitted',
        'Unsettled',
        `Slurm did not answer sbatch; the client finds out within ${settleSeconds} s whether Slurm has the job`,
      );
    if (first !== 'refused')
      throw new NotNow('Submitted', 'HostFailed', `unexpected answer of the host: ${answer.slice(0, 500)}`);
    const message = rest.join('\n').trim();
    if (isForNow(message))
      throw new NotNow(
        'Submitted',
        /limit/i.test(message) ? 'QueueFull' : 'SlurmAway',
        message || 'sbatch has failed without a message',
      );
    await this.#end(
      entry,
      { type: 'Failed', reason: 'SubmitRefused', message },
      { type: 'Submitted', status: 'False', reason: 'SubmitRefused', message },
    );
    return true;
  }

  async #follow(entry: JobEntry): Promise<boolean> {
    const { answered } = entry;
    entry.answered = false;
    // A failed copy does not delay the end of the job; the fetch copies the output, and reports why it
    // cannot.
    const [copied] = await Promise.allSettled([this.#options.files.copyOutput(entry, false)]);
    const over = answered && (await this.#observe(entry));
    if (!over && copied.status === 'rejected') throw copied.reason;
    return over;
  }

  /** Updates the status. Returns true if the job has ended. */
  async #observe(entry: JobEntry): Promise<boolean> {
    const { tasks, looked, forgotten } = entry;
    const { status, verdict } = observedStatus(entry.job, entry.status, { tasks, looked, forgotten });
    if (verdict !== undefined) await this.write(entry, ended(status, verdict, this.#options.clock.now()));
    else if (JSON.stringify(status) !== JSON.stringify(entry.status)) await this.write(entry, status);
    return verdict !== undefined;
  }

  async #cancel(entry: JobEntry): Promise<boolean> {
    const { job, status } = entry;
    const { clock } = this.#options;
    const reason = stopReason(job, status, clock.now()) ?? 'Canceled';
    const message =
      reason === 'Canceled'
        ? 'it was canceled'
        : `it had not ended after ${job.spec.activeDeadlineSeconds} s (activeDeadlineSeconds)`;
    // Nothing was submitted to Slurm if there is no folder.
    if (status.workDir !== undefined) await this.#stop(entry);
    if (status.jobID === undefined) await this.#end(entry, { type: 'Failed', reason, message });
    else await this.write(entry, this.#with(entry, { type: 'Failed', status: 'Unknown', reason, message }));
    return true;
  }

  async #stop({ job, status }: JobEntry): Promise<void> {
    const answer = await this.#run('ask', cancelScript(job, status.jobID), 'Failed');
    if (answer.trim() !== 'ended')
      throw new NotNow('Connected', 'Canceling', 'Slurm is still ending the job');
  }

  async #fetch(entry: JobEntry): Promise<boolean> {
    const { files, dropped, gone } = await this.#options.files.fetch(entry);
    const condition: NewCondition = gone
      ? {
          type: 'ResultsFetched',
          status: 'False',
          reason: 'WorkFolderGone',
          message: 'the work folder is not on the host any more',
        }
      : dropped.length > 0
        ? {
            type: 'ResultsFetched',
            status: 'False',
            reason: 'ResultsTooLarge',
            message: `${dropped.length} files were left in ${entry.status.workDir} on the host`,
          }
        : {
            type: 'ResultsFetched',
            status: 'True',
            reason: 'Fetched',
            message: `${files.length} result files`,
          };
    await this.write(entry, {
      ...this.#with(entry, condition),
      exitCode: lastExitCode(entry.job.spec, entry.status, entry.looked),
      files,
      droppedFiles: dropped.length > 0 ? dropped : undefined,
    });
    return true;
  }

  async #cleanUp(entry: JobEntry): Promise<boolean> {
    const { droppedFiles, workDir } = entry.status;
    const kept = entry.job.spec.keepFiles === true || droppedFiles !== undefined || workDir === undefined;
    const fault = kept ? undefined : await this.#remove(entry);
    // The state of the connection may have been written in the meantime.
    const fetched = conditionOf(entry.status, 'ResultsFetched');
    const updated =
      fault === undefined || fetched === undefined
        ? entry.status
        : this.#with(entry, { ...fetched, message: `${fetched.message}; ${fault}` });
    await this.write(entry, finished(updated, this.#options.clock.now()));
    return false;
  }

  async #discard(entry: JobEntry): Promise<boolean> {
    const { job, status } = entry;
    // The folder is recorded before it is used.
    if (!isFinished(status) && status.workDir !== undefined) {
      await this.#stop(entry);
      if (job.spec.keepFiles !== true) await this.#remove(entry);
    }
    await this.#options.store.release(job);
    return false;
  }

  /**
   * Removes the folder. A folder that cannot be removed (open files on NFS, files of other users) does not
   * delay the end of the job. Resolves to the reason if the folder remains.
   */
  async #remove({ job, status }: JobEntry): Promise<string | undefined> {
    const { code, stderr } = await this.#options.host.run('ask', removeScript(job));
    if (code === 0) return undefined;
    return `${status.workDir} could not be removed from the host: ${stderr.trim().slice(0, 500)}`;
  }

  async #run(lane: LaneName, script: string, condition: SlurmJobConditionType): Promise<string> {
    const { code, stdout, stderr } = await this.#options.host.run(lane, script);
    if (code === 0) return stdout;
    const reason = stderr.trim().slice(0, 2000);
    if (code === folderGone) throw new FolderGone(reason);
    throw new NotNow(
      condition,
      code === tryAgain ? 'TryingAgain' : 'HostFailed',
      reason || `the host's shell ended with ${code ?? 'a signal'}`,
    );
  }

  async #end(entry: JobEntry, verdict: Verdict, condition?: NewCondition): Promise<void> {
    const status = condition === undefined ? entry.status : this.#with(entry, condition);
    await this.write(entry, ended(status, verdict, this.#options.clock.now()));
  }

  #with(entry: JobEntry, condition: NewCondition): SlurmJobStatus {
    return withCondition(entry.status, condition, this.#options.clock.now());
  }
}
