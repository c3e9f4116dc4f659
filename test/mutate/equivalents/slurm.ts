/** Equivalent mutants of SlurmJobs' clients. */
import type { Equivalent } from '../equivalent.ts';

type Lines = readonly (readonly [line: string, change: string])[];

const of = (name: string, because: string, lines: Lines): Equivalent[] =>
  lines.map(([line, change]) => ({ file: `src/features/slurm/client/${name}.ts`, line, change, because }));

const settled = 'a promise that has settled is awaited at once; it takes memory';

export const slurm: readonly Equivalent[] = [
  ...of('follower', 'the first query comes at once anyway, and clears it', [
    ['#hurry = false;', 'false → true'],
  ]),
  ...of('follower', 'a followed job has a number', [
    [
      "const answer = await host.run('ask', accountScript(missing.map(({ status }) => status.jobID ?? '')));",
      "status.jobID ?? '' → (status.jobID)",
    ],
    [
      "const answer = await host.run('ask', accountScript(missing.map(({ status }) => status.jobID ?? '')));",
      "'' → 'mutated'",
    ],
    [
      "const placeOf = ({ status }: JobEntry) => ({ id: status.jobID ?? '', folder: status.workDir ?? '' });",
      "status.jobID ?? '' → (status.jobID)",
    ],
    [
      "const placeOf = ({ status }: JobEntry) => ({ id: status.jobID ?? '', folder: status.workDir ?? '' });",
      "status.workDir ?? '' → (status.workDir)",
    ],
    [
      "const placeOf = ({ status }: JobEntry) => ({ id: status.jobID ?? '', folder: status.workDir ?? '' });",
      "'' → 'mutated'",
    ],
  ]),
  ...of('slurm-client', settled, [['this.#running.delete(running);', 'this.#running.delete(running); → ;']]),
  ...of('job-files', 'half of no limit is no limit', [
    ['const whole = { size, limit: Number.POSITIVE_INFINITY, atEnd: true };', 'true → false'],
  ]),
  ...of('host-answers', 'the text undefined is no exit status', [
    ['exitCode: exit === undefined ? undefined : exitStatus(exit),', 'exit === undefined → false'],
  ]),
  ...of('sbatch-options', 'neither is a letter', [
    ["comment: '',", "'' → 'mutated'"],
    ["'open-mode': '',", "'' → 'mutated'"],
    ["export: '',", "'' → 'mutated'"],
  ]),
  ...of('job-plan', 'a job whose tasks have all ended has a state', [
    ["{ state = '', exitCode, conditions }: SlurmJobStatus,", "'' → 'mutated'"],
  ]),
  ...of('batch-script', 'the text undefined would be a type of a GPU, and is not used', [
    [
      'if (gpuType !== undefined && !/^[A-Za-z0-9][A-Za-z0-9_.-]*$/.test(gpuType))',
      'gpuType !== undefined && !/^[A-Za-z0-9][A-Za-z0-9_.-]*$/.test(gpuType) → (!/^[A-Za-z0-9][A-Za-z0-9_.-]*$/.test(gpuType))',
    ],
  ]),
  ...of('known-hosts', 'the text undefined is no type of a key', [
    [
      String.raw`word !== undefined && /^(ssh-(ed25519|rsa|dss)|ecdsa-sha2-nistp(256|384|521)|sk-[\w@.-]+)$/.test(word);`,
      String.raw`word !== undefined && /^(ssh-(ed25519|rsa|dss)|ecdsa-sha2-nistp(256|384|521)|sk-[\w@.-]+)$/.test(word) → (/^(ssh-(ed25519|rsa|dss)|ecdsa-sha2-nistp(256|384|521)|sk-[\w@.-]+)$/.test(word))`,
    ],
  ]),
  ...of('job-steps', 'a job is stopped only for a reason', [
    ["const reason = stopReason(job, status, clock.now()) ?? 'Canceled';", "'Canceled' → ''"],
  ]),
  ...of('login-host', 'a lost connection is already closed', [
    ['this.#current = undefined;', 'this.#current = undefined; → ;'],
  ]),
  ...of('slurm-client', 'without a state the report fails before it writes, and the failure is ignored', [
    [
      'if (this.#state && !isFinished(entry.status)) this.#connected(entry, this.#state).catch(() => undefined);',
      'this.#state && !isFinished(entry.status) → (!isFinished(entry.status))',
    ],
  ]),
  ...of('ssh', 'a signal aborts once', [
    ["signal.addEventListener('abort', abort, { once: true });", 'true → false'],
  ]),
];
