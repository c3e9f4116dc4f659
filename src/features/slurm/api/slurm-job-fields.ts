/** Fields of a SlurmJob: the work, and the resources that it requests from Slurm. */
import * as v from 'valibot';
import { int32, intOrString, quantity, struct } from '../../../apimachinery/schema.ts';

/** Description of a field for `kubectl explain` and `ctl explain`. */
const text = v.description<string, string>;

const word = (about: string) => v.optional(v.pipe(v.string(), text(about)));
const number = (about: string) => v.optional(v.pipe(int32(), v.description(about)));
const words = (about: string) => v.optional(v.pipe(v.array(v.string()), v.description(about)));

const connection = struct({
  secretName: v.pipe(
    v.string(),
    text(
      'Name of a Secret in the namespace of the job, with the keys host, port (22 without it), user, password or privateKey, ' +
        'passphrase of that key, and knownHosts: lines of known_hosts, or lines of a type and a key in base64.',
    ),
  ),
});

const file = struct({
  path: v.pipe(v.string(), text('Its path below the work folder of the job.')),
  content: word('Its text.'),
  base64: word('Its bytes in base64, instead of a text.'),
});

const fileSource = struct({
  configMapName: v.pipe(
    v.string(),
    text('Name of a ConfigMap in the namespace of the job: each key is a file.'),
  ),
  path: word('The folder below the work folder that the files are put into. Defaults to the work folder.'),
});

/** Fields of the files and commands. */
export const workFields = {
  connection: v.pipe(connection, v.description('How the login host of the Slurm cluster is reached.')),
  files: v.optional(
    v.pipe(v.array(file), v.description('Files that the job needs on the host, in all no more than 1 MB.')),
  ),
  filesFrom: v.optional(
    v.pipe(v.array(fileSource), v.description('ConfigMaps whose keys are files that the job needs.')),
  ),
  build: words(
    'Commands that are run in the work folder on the login host before the job is submitted. One that fails is the end of the job.',
  ),
  run: words(
    'The commands of the job, one after the other until one fails. Exactly one of run, script and scriptFile is set.',
  ),
  script: word('A whole batch script with its #SBATCH lines, instead of run.'),
  scriptFile: word('The path of a batch script among the files, instead of run.'),
  modules: words('Environment modules that are loaded before the commands of build and run.'),
  environment: v.optional(
    v.pipe(v.record(v.string(), v.string()), v.description('Variables of the environment of the job.')),
  ),
  workDir: word(
    'The folder of the host below which the job has one of its own. Defaults to .minik8s/NAMESPACE in the home of the user.',
  ),
  results: words('Patterns such as out/*.csv of files below the work folder that are fetched at the end.'),
  resultsLimit: v.optional(
    v.pipe(
      quantity(),
      v.description('How many bytes of results are fetched at most, no more than 64Mi. Defaults to 16Mi.'),
    ),
    '16Mi',
  ),
  keepFiles: v.optional(
    v.pipe(
      v.boolean(),
      v.description('Whether the work folder stays on the host at the end. Defaults to false.'),
    ),
    false,
  ),
};

/** Fields of the resources that are requested from Slurm. */
export const askedFields = {
  partition: word('The partition, or several with commas between.'),
  account: word('The account that the job is charged to.'),
  qos: word('The quality of service.'),
  nodes: number('How many nodes.'),
  tasks: number('How many tasks in all.'),
  tasksPerNode: number('How many tasks on each node.'),
  cpusPerTask: number('How many CPUs for each task.'),
  gpus: number('How many GPUs on each node.'),
  gpuType: word('The type of the GPUs, as Slurm calls it, such as a100.'),
  memory: v.optional(v.pipe(quantity(), v.description('Memory on each node, such as 4Gi.'))),
  time: v.optional(
    v.pipe(
      intOrString(),
      v.description('How long it may run: a number of seconds, or as sbatch has it, such as 1:30:00.'),
    ),
  ),
  array: word('Numbers of the tasks of an array, as sbatch has them, such as 0-9%2.'),
  arguments: words('More options of sbatch, each as one word, such as --constraint=a100.'),
};

/** Fields of the end and the deletion of a job. */
export const endFields = {
  activeDeadlineSeconds: number(
    'Seconds after which the job is canceled, however far it is, since the client first saw it.',
  ),
  ttlSecondsAfterFinished: number('Seconds after its end when the object is deleted. Defaults to never.'),
  cancel: v.optional(
    v.pipe(
      v.boolean(),
      v.description(
        'Ends the job: Slurm cancels it if it was submitted. It can be set at any time, and not be taken back.',
      ),
    ),
    false,
  ),
};
