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
];
